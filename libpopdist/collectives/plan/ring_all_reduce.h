// SPDX-License-Identifier: Apache-2.0
// Ring all-reduce (Patarasuk and Yuan, 2009): a ring reduce-scatter, then a ring all-gather. Sends the fewest
// bytes that any all-reduce can, at the price of 2(n - 1) rounds: the choice for large vectors.
#pragma once

#include <cstddef>
#include <span>

#include "libpopdist/collectives/plan/plan.h"

namespace popdist::plan {

/// kOutput (`count` elements) becomes the sum of all ranks' kOutput, bit-identical on every rank.
/// 2(n - 1) rounds; each rank sends about 2 · count · (n - 1)/n elements.
Plan planRingAllReduce(int rank, int ranks, std::size_t count);

/// The same over the ring `order`, for the rank at `position`. The order of summation depends on positions,
/// not ranks.
Plan planRingAllReduce(std::span<const int> order, int position, std::size_t count);

/// The same in natural order, for one segment of the vector after the other, each of `block_count` elements
/// for every rank, the last one of up to an eighth more: what has just been reduced is still in the caches
/// when it is passed on. Costs 2(n - 1) rounds for each segment.
Plan planSegmentedRingAllReduce(int rank, int ranks, std::size_t count, std::size_t block_count);

}  // namespace popdist::plan
