// SPDX-License-Identifier: Apache-2.0
// Recursive doubling all-reduce: in each round a rank exchanges all it has with one twice as far away. The
// fewest rounds that there can be, at the price of sending the whole vector in each: the choice for short
// ones.
#pragma once

#include <cstddef>

#include "libpopdist/src/plan/plan.h"

namespace popdist::plan {

/// kOutput (`count` elements) becomes the sum of all ranks' kOutput, bit-identical on every rank: the two of
/// an exchange add the same two values. log2(n) rounds of one message of `count` elements; where n is no
/// power of two, two more. Needs no scratch.
Plan planRecursiveDoublingAllReduce(int rank, int ranks, std::size_t count);

}  // namespace popdist::plan
