// SPDX-License-Identifier: Apache-2.0
// The data movement of collectives that do not reduce: broadcast, all-gather, gather, scatter, all-to-all.
// All of them are blocks that flow from one rank's input to other ranks' outputs.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace popdist::plan {

/// A block that flows from `from` to `to`, which may be the same rank. Offsets and size are in the unit of
/// the counts that it was made from.
struct Flow {
  int from = 0;
  int to = 0;
  std::size_t input = 0;   ///< offset in the input of `from`
  std::size_t output = 0;  ///< offset in the output of `to`
  std::size_t size = 0;
};

/// All flows of a collective, which all ranks list in the same order.
using Flows = std::vector<Flow>;

Flows broadcastFlows(int ranks, std::size_t count, int root);
/// `counts[r]` is that of rank r.
Flows allGatherFlows(std::span<const std::size_t> counts);
Flows gatherFlows(std::span<const std::size_t> counts, int root);
Flows scatterFlows(std::span<const std::size_t> counts, int root);
/// `counts[i * ranks + j]` elements go from rank i to rank j.
Flows allToAllFlows(int ranks, std::span<const std::size_t> counts);
/// Drops flows of size 0, but keeps one for each rank that gives nothing: to the next rank. If such flows are
/// sent as messages too, every rank hears from the one before it, and of two neighbours with different counts
/// one notices.
Flows tellingTheNext(Flows flows, int ranks);
/// The flows of an all-to-all that leave or reach `rank`.
Flows ownFlows(int rank, std::span<const std::size_t> send_counts, std::span<const std::size_t> recv_counts);

}  // namespace popdist::plan
