// SPDX-License-Identifier: Apache-2.0
// Recursive doubling all-reduce: in each round a rank exchanges everything it has with one twice as far away.
// It needs the fewest possible rounds but sends the whole vector in each, so it is chosen for short vectors.
#pragma once

#include <cstddef>

#include "libpopdist/collectives/plan/plan.h"

namespace popdist::plan {

/// kOutput (`count` elements) becomes the sum of all ranks' kOutput, bit-identical on every rank: the two of
/// an exchange add the same two values. log2(n) rounds of one message of `count` elements; where n is no
/// power of two, two more. Needs no scratch.
Plan planRecursiveDoublingAllReduce(int rank, int ranks, std::size_t count);

}  // namespace popdist::plan
