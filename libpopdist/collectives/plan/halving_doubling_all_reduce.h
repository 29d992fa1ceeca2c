// SPDX-License-Identifier: Apache-2.0
// Halving-doubling all-reduce (Rabenseifner, 2004): each round halves what a rank has to reduce, until each
// has an n-th of the result; the same rounds backwards give it to all. As few bytes as a ring in 2 log2(n)
// rounds: the choice for what is too long for recursive doubling and too short for a ring.
#pragma once

#include <cstddef>

#include "libpopdist/collectives/plan/plan.h"

namespace popdist::plan {

/// kOutput (`count` elements) becomes the sum of all ranks' kOutput, bit-identical on every rank. Each rank
/// sends about 2 · count · (n - 1)/n elements; where n is no power of two, some send `count` more. Nearest
/// ranks exchange the longest parts: where neighbours share a host, the network carries the least.
Plan planHalvingDoublingAllReduce(int rank, int ranks, std::size_t count);

}  // namespace popdist::plan
