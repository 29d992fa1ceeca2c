// SPDX-License-Identifier: Apache-2.0
// Ring reduce-scatter that leaves its input alone: the partial sums travel through scratch memory, which does
// not grow with the vector.
#pragma once

#include <cstddef>
#include <span>

#include "libpopdist/collectives/plan/plan.h"

namespace popdist::plan {

/// kOutput (`count` elements) becomes the sum of block `rank` of all ranks' kInput (`ranks` blocks of `count`
/// elements). Each rank sends count · (n - 1) elements. From 3 ranks on blocks longer than `segment` go in
/// segments of that many elements: n - 1 rounds of the first one, n - 2 more of each other, four segments of
/// scratch. kOutput may lie exactly over the own block of kInput: of what is written there, nothing is needed
/// afterwards.
Plan planRingReduceScatter(int rank, int ranks, std::size_t count, std::size_t segment);

/// The same over the ring `order`, for the rank at `position`: it gets the sum of blocks[position]. One block
/// of kInput per position. Summation runs in the order that appendRingReduceScatter describes.
Plan planRingReduceScatter(std::span<const int> order, int position, std::span<const Range> blocks,
                           std::size_t segment);

}  // namespace popdist::plan
