// SPDX-License-Identifier: Apache-2.0
// The pipelines of an instance's replicas in one thread, none ahead of another: an action of the schedule on
// each replica, then the next one. So feeds that give and take whole steps are never waited for.
#pragma once

#include <cstdint>
#include <span>

#include "popdist/pipeline.hpp"

namespace popdist::train::detail {

/// One replica's arguments of Pipeline::run. All pipelines have the same options.
struct OfReplica {
  Pipeline& pipeline;
  ConstTensorRefs values;
  TensorRefs gradients;  ///< not touched by an evaluation
  Feeds feeds;
};

struct SideBySide {
  /// As Pipeline::run and evaluate of each.
  static void run(std::span<const OfReplica> replicas, const UpdateFunction& update,
                  const RunOptions& options);
  static void evaluate(std::span<const OfReplica> replicas, std::int64_t micro_batches, std::uint64_t step);

 private:
  struct Run;
};

}  // namespace popdist::train::detail
