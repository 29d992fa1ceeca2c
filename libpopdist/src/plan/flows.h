// SPDX-License-Identifier: Apache-2.0
// What moves in a collective that does not reduce: broadcast, all-gather, gather, scatter, all-to-all. All
// are the same thing: blocks that flow from one rank's input to others' outputs.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace popdist::plan {

/// A block that goes from `from` to `to`, who may be the same. Offsets and size are in whatever unit the
/// counts had that it was made from.
struct Flow {
  int from = 0;
  int to = 0;
  std::size_t input = 0;   ///< where it lies at `from`
  std::size_t output = 0;  ///< where it goes at `to`
  std::size_t size = 0;
};

/// All flows of a collective, which all ranks list in the same order.
using Flows = std::vector<Flow>;

Flows broadcastFlows(int ranks, std::size_t count, int root);
/// `counts` are of each rank.
Flows allGatherFlows(std::span<const std::size_t> counts);
Flows gatherFlows(std::span<const std::size_t> counts, int root);
Flows scatterFlows(std::span<const std::size_t> counts, int root);
/// `counts[i * ranks + j]` go from i to j.
Flows allToAllFlows(int ranks, std::span<const std::size_t> counts);
/// Without those of size 0, but for one of each rank that has nothing to give: to the next rank. Where even
/// such flows are messages everybody hears from the rank before, and of any two neighbours who do not mean
/// the same counts one finds out.
Flows tellingTheNext(Flows flows, int ranks);
/// Of an all-to-all, those that leave or reach `rank`.
Flows ownFlows(int rank, std::span<const std::size_t> send_counts, std::span<const std::size_t> recv_counts);

}  // namespace popdist::plan
