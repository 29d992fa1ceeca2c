// SPDX-License-Identifier: Apache-2.0
// Ring all-gather: every block visits every rank.
#pragma once

#include <cstddef>
#include <span>

#include "libpopdist/collectives/plan/plan.h"

namespace popdist::plan {

/// Block i of kOutput (`ranks` blocks of `count` elements) becomes rank i's kInput (`count` elements).
/// n - 1 rounds; each rank sends count · (n - 1) elements. kInput may be the own block of kOutput: the own
/// copy is then from a range to itself.
Plan planRingAllGather(int rank, int ranks, std::size_t count);

/// The same over the ring `order`, for the rank at `position`, whose kInput has blocks[position].count
/// elements and goes to blocks[position] of every kOutput.
Plan planRingAllGather(std::span<const int> order, int position, std::span<const Range> blocks);

}  // namespace popdist::plan
