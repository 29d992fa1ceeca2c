// SPDX-License-Identifier: Apache-2.0
// Plan of the memory of each IPU while it trains, and of the Streaming Memory beside it. A model of the
// device: the host that emulates it keeps what it likes.
//
//   const train::MemoryPlan plan = train::planMemory(parameters, optimizer, {.replicas_per_state = 16});
//   std::puts(plan.text().c_str());
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "popdist/accumulation.hpp"
#include "popdist/offload.hpp"
#include "popdist/optimizer.hpp"
#include "popdist/parameters.hpp"
#include "popdist/pod.hpp"

namespace popdist::train {

struct MemoryPlanOptions {
  GradientAccumulation accumulation{};
  int replicas = 1;
  int replicas_per_state = 1;  ///< replicated tensor sharding: WeightUpdateOptions
  int ipus_per_replica = 1;    ///< tensors are thought to be spread over them evenly
  /// Tensors that only the weight update uses. kAuto: on where gradients are accumulated and there are remote
  /// buffers.
  Offload offload_weight_update_variables = Offload::kAuto;
  /// IpuMultiWorkerOptions::variables_on_host: the optimizer's state is the host's, once for an instance.
  bool variables_on_host = false;
  bool remote_buffers = true;          ///< the system has Streaming Memory that programs can use
  std::uint64_t activation_bytes = 0;  ///< for a micro-batch, on one IPU: the program knows
  /// An assumption: code of the exchanges between replicas, for each further one.
  std::uint64_t exchange_code_bytes = 8192;
  /// Memory of an IPU. GC200: 1,472 tiles of 624 KiB.
  std::uint64_t in_processor_bytes = std::uint64_t{1472} * 624 * 1024;
  /// Streaming Memory of an IPU: a quarter of an M2000's 450 GB.
  std::uint64_t streaming_bytes = 112'500'000'000;
  /// An assumption: between Streaming Memory and one IPU. At least 1,000,000.
  std::uint64_t streaming_bytes_per_s = 5'000'000'000;
};

/// Bytes on each IPU.
struct MemoryRow {
  std::string what{};  ///< "parameters", "adam.m"
  std::uint64_t in_processor = 0;
  std::uint64_t streaming = 0;
  std::uint64_t host = 0;  ///< not of the IPU: of the host, for all replicas of an instance together
};

struct MemoryPlan {
  std::vector<MemoryRow> rows{};
  std::uint64_t in_processor = 0;  ///< sum of all rows
  std::uint64_t streaming = 0;
  std::uint64_t host = 0;
  std::uint64_t streamed_per_update = 0;  ///< bytes in and out, on each IPU
  double streaming_s = 0;  ///< time that they take: into the IPU before the update, out after it
  std::string offload{};   ///< the decision on update-only tensors, and its reason

  /// streaming_s for a Pod's clock.
  SimulatedTime streamingTime() const;
  /// A table for people.
  std::string text() const;
};

/// Replicated tensors are cut into `replicas_per_state` parts of ceil(elements / replicas_per_state); tensors
/// of less than 128 bytes a part stay whole and on the IPU. Throws popdist_error kInvalidArgument
/// (replicas_per_state does not divide the replicas; Offload::kOn without remote buffers or with variables on
/// the host; numbers below 1, streaming_bytes_per_s included);
/// kResourceExhausted where the plan does not fit (a sum beyond 2^64 - 1 bytes counts as that): with the
/// bytes, the largest tensor and what makes it smaller.
MemoryPlan planMemory(const Parameters& parameters, const Optimizer& optimizer,
                      const MemoryPlanOptions& options = {});

}  // namespace popdist::train
