// SPDX-License-Identifier: Apache-2.0
// Pairwise all-to-all: in round r each rank sends to the rank r places ahead, so each rank always has one
// sender and one receiver, and no link is used twice.
#pragma once

#include <cstddef>

#include "libpopdist/collectives/plan/plan.h"

namespace popdist::plan {

/// Block i of kOutput becomes block `rank` of rank i's kInput; both have `ranks` blocks of `count` elements
/// and must not overlap. Round 0 copies the own block; n - 1 rounds follow. Each rank sends count · (n - 1)
/// elements.
Plan planPairwiseAllToAll(int rank, int ranks, std::size_t count);

}  // namespace popdist::plan
