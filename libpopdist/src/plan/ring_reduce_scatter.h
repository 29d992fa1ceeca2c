// SPDX-License-Identifier: Apache-2.0
// Ring reduce-scatter that leaves its input alone: the partial sums travel through scratch memory.
#pragma once

#include <cstddef>
#include <span>

#include "libpopdist/src/plan/plan.h"

namespace popdist::plan {

/// kOutput (`count` elements) becomes the sum of block `rank` of all ranks' kInput (`ranks` blocks of `count`
/// elements). n - 1 rounds; each rank sends count · (n - 1) elements. Needs two blocks of scratch, less below
/// 4 ranks. kOutput may lie exactly over the own block of kInput: it is written in the last round only.
Plan planRingReduceScatter(int rank, int ranks, std::size_t count);

/// The same over the ring `order`, for the rank at `position`: it gets the sum of blocks[position]. One block
/// of kInput per position. Summation runs in the order that appendRingReduceScatter describes.
Plan planRingReduceScatter(std::span<const int> order, int position, std::span<const Range> blocks);

}  // namespace popdist::plan
