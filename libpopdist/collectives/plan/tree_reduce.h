// SPDX-License-Identifier: Apache-2.0
// Reduction to one rank along a binomial tree: log2(n) messages of the whole vector in a row.
#pragma once

#include <cstddef>

#include "libpopdist/collectives/plan/plan.h"

namespace popdist::plan {

/// The root's result is in kOutput; the others' is not used.
Plan planTreeReduce(int rank, int ranks, int root, std::size_t count);

}  // namespace popdist::plan
