// SPDX-License-Identifier: Apache-2.0
// Collectives in shared memory that move blocks without reducing them: broadcast, all-gather, gather,
// scatter, all-to-all. All are the same thing: blocks that flow from one rank's input to others' outputs.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "libpopdist/src/plan/shared_plan.h"

namespace popdist::plan {

/// A block that goes from `from` to `to`, who may be the same. Offsets and size in bytes.
struct Flow {
  int from = 0;
  int to = 0;
  std::size_t input = 0;   ///< where it lies at `from`
  std::size_t output = 0;  ///< where it goes at `to`
  std::size_t bytes = 0;
};

/// All flows of a collective, which all ranks list in the same order.
using Flows = std::vector<Flow>;

Flows broadcastFlows(int ranks, std::size_t bytes, int root);
/// `counts` are bytes, of each rank.
Flows allGatherFlows(std::span<const std::size_t> counts);
Flows gatherFlows(std::span<const std::size_t> counts, int root);
Flows scatterFlows(std::span<const std::size_t> counts, int root);
/// `counts[i * ranks + j]` bytes go from i to j.
Flows allToAllFlows(int ranks, std::span<const std::size_t> counts);

/// Everybody puts all that leaves it into its stage, at once: one wait. For blocks that fit into a stage
/// together.
SharedPlan eagerMove(const Flows& flows, int rank);

/// Through the stages, a chunk at a time: at least 2 slots. A block that goes to several is exported
/// once.
SharedPlan stagedMove(const Flows& flows, int rank, const StageShape& shape);

/// Every rank fetches straight from the inputs, which must be readable by everybody, and waits at the end
/// until everybody has.
SharedPlan directMove(const Flows& flows, int rank);

}  // namespace popdist::plan
