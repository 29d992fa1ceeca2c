// SPDX-License-Identifier: Apache-2.0
// Binomial tree broadcast: ceil(log2 n) rounds, in which the number of ranks that have the data doubles.
#pragma once

#include <cstddef>

#include "libpopdist/collectives/plan/plan.h"

namespace popdist::plan {

/// kOutput (`count` elements) of every rank becomes the root's. Rounds are numbered alike on all ranks: a
/// rank starts with the round in which it receives. The root sends ceil(log2 n) times, every other rank at
/// most as often less one.
Plan planTreeBroadcast(int rank, int ranks, int root, std::size_t count);

}  // namespace popdist::plan
