// SPDX-License-Identifier: Apache-2.0
// Plan of a pipeline's memory on each IPU and beside it, the cost of its offloaded tensors in time, and the
// choice between a pipeline and replicas by speed.
//
//   const train::PipelinePlan plan = train::planMemory(pipeline, parameters, optimizer, {.replicas = 4});
//   std::puts(plan.text().c_str());
//   program.times = plan.addTo(times);   // pays for what is streamed
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "popdist/memory_plan.hpp"
#include "popdist/pipeline.hpp"

namespace popdist::train {

/// Bytes between an IPU and Streaming Memory.
struct Streamed {
  std::uint64_t forward = 0;   ///< for each micro-batch of a stage, in and out
  std::uint64_t backward = 0;  ///< likewise
};

struct PipelinePlan {
  std::vector<int> ipus{};           ///< those that have stages, ascending
  std::vector<MemoryPlan> memory{};  ///< one for each IPU; streamed_per_update is the update's alone
  std::vector<Streamed> streamed{};  ///< one for each stage
  /// Bytes that weights and sums of gradients take with each update, on the IPU that streams most of them.
  /// The optimizer's state comes on top: memory[i].streamed_per_update has both.
  std::uint64_t streamed_per_update = 0;
  std::uint64_t gathered_per_stage = 0;  ///< bytes of sharded weights that the largest stage gathers
  /// The outcome of options that are kAuto, and its reason: "offload_activations: off: …".
  std::vector<std::string> decisions{};
  std::uint64_t streaming_bytes_per_s = 1;

  /// `times` with what is streamed: forwards and backwards take longer, and the update by
  /// streamed_per_update. A recomputation takes a forward's time. Not the optimizer's state: a Trainer adds
  /// that to each update by itself (Trainer::memoryPlan).
  SimulationOptions addTo(SimulationOptions times) const;

  /// A table of the IPU that needs most, what is streamed, and the decisions, for people.
  std::string text() const;
};

/// As planMemory(parameters, …), by the pipeline's stages and its options; accumulation is the pipeline's
/// own, activation_bytes and ipus_per_replica are not read. Where they lie:
///   offload_activations: micro-batches that wait; the one that is worked on is on the IPU
///   offload_gradient_accumulation_buffers: all but those of the largest stage
///   replicated_weight_sharding: parts of 1 / replicas, and the largest stage's weights as a whole
///   offload_weights: these parts
/// A stage option availableMemoryProportion counts that part of the IPU's memory as taken while it runs.
/// Throws popdist_error kInvalidArgument as planMemory, and for an option that is kOn without remote buffers,
/// or a proportion that is no number from 0 to 1; kResourceExhausted where an IPU's plan does not fit.
PipelinePlan planMemory(const Pipeline& pipeline, const Parameters& parameters, const Optimizer& optimizer,
                        const MemoryPlanOptions& options = {});

/// A model, and how many IPUs there are for it.
struct ConfigurationQuestion {
  std::vector<StageTimes> stages{};                ///< one for each stage, for a micro-batch
  std::int64_t micro_batches = 1;                  ///< in an update, over all replicas
  bool recompute_on_one_ipu = true;                ///< all stages on one IPU fit only so
  bool recompute_in_pipeline = false;              ///< … each on its own
  ScheduleKind schedule = ScheduleKind::kGrouped;  ///< the pipeline's
  SimulatedTime sync{0};
  SimulatedTime update{0};
  SimulatedTime all_reduce{0};  ///< sum of the gradients, between replicas
};

struct Configuration {
  std::string name{};  ///< "a pipeline of 2 IPUs"
  int ipus = 1;
  int replicas = 1;
  SimulatedTime update{0};  ///< from one update to the next
};

/// A model of S stages on one IPU; on S IPUs as a pipeline; on S replicas of one IPU each. Exact: by the same
/// simulation as runs. The first has micro_batches, the last micro_batches / S on each replica, rounded up.
struct PipelineOrReplicas {
  std::vector<Configuration> configurations{};
  std::size_t quickest = 0;  ///< its position; of equal ones the first

  /// A line for each, and the quickest, for people.
  std::string text() const;
};

/// Throws popdist_error kInvalidArgument for fewer than 2 stages, negative times, or a count that the
/// pipeline's schedule does not take (names the next two).
PipelineOrReplicas pipelineOrReplicas(const ConfigurationQuestion& question);

}  // namespace popdist::train
