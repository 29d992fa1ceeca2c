// SPDX-License-Identifier: Apache-2.0
// The rows of one IPU's plan, and what its options say.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "common/base/status.h"
#include "popdist/memory_plan.hpp"

namespace popdist::train {

/// Sum and product of bytes: 2^64 - 1 where there are more, which fit nowhere.
std::uint64_t sumOfBytes(std::uint64_t a, std::uint64_t b);
std::uint64_t productOfBytes(std::uint64_t a, std::uint64_t b);

/// The longest time that a Pod's clock still takes, as long as nothing really lasts.
inline constexpr double kMostSeconds = 1e6;

/// Refuses options, with planMemory's errors.
pop::Status checkOptions(const MemoryPlanOptions& options);

struct Decision {
  bool offload = false;
  std::string why;
};

/// Decides if tensors that only updates use are offloaded.
Decision decideOnUpdateVariables(const MemoryPlanOptions& options);

/// Plans one IPU. `options` outlive it; `offload`: tensors that only updates use are offloaded.
class MemoryPlanner {
 public:
  MemoryPlanner(const MemoryPlanOptions& options, bool offload) : options_(options), offload_(offload) {}

  MemoryRow& row(std::string what) {
    plan.rows.push_back({.what = std::move(what)});
    return plan.rows.back();
  }

  /// A tensor that is used while micro-batches are computed.
  void addToIpu(MemoryRow& row, const TensorSpec& tensor, std::size_t element_bytes);
  /// A tensor that only updates use: perhaps in parts, perhaps offloaded.
  void addOfUpdate(MemoryRow& row, const TensorSpec& tensor, std::size_t element_bytes);

  /// Bytes of anything.
  void add(MemoryRow& row, std::uint64_t bytes, bool offloaded) {
    std::uint64_t& to = offloaded ? row.streaming : row.in_processor;
    to = sumOfBytes(to, bytes);
  }

  /// A row for each of the optimizer's states.
  void addOptimizer(const Spec& parameters, const Optimizer& optimizer);

  /// The sums of all rows, and what the update streams: what only it uses, in and out again.
  void finish(std::uint64_t streamed_per_update);

  /// kResourceExhausted, with what makes it smaller.
  pop::Status fits(bool offload) const;

  MemoryPlan plan;

 private:
  void place(MemoryRow& row, const TensorSpec& tensor, std::uint64_t bytes, bool offloaded);
  std::string tooMuch(std::uint64_t bytes, std::uint64_t there, const char* memory) const;

  const MemoryPlanOptions& options_;
  bool offload_;
  std::uint64_t largest_bytes_ = 0;
  std::string largest_ = "the activations";
};

}  // namespace popdist::train
