// SPDX-License-Identifier: Apache-2.0
// Which algorithm carries out an operation: the only place that decides. All ranks of a collective must come
// to the same answer, so it may depend on nothing but what they all know: the request without `rank`.
#pragma once

#include <cstddef>

#include "libpopdist/src/plan/operation.h"
#include "libpopdist/src/plan/plan.h"

namespace popdist::plan {

struct Request {
  Operation operation = Operation::kBarrier;
  int rank = 0;
  int ranks = 1;
  /// Elements: of the vector (kAllReduce, kBroadcast); of one rank's block (kReduceScatter, kAllGather,
  /// kAllToAll, where the vector has `ranks` blocks); ignored by kBarrier.
  std::size_t count = 0;
  int root = 0;  ///< kBroadcast only
};

/// The steps of `request.rank`.
Plan planCollective(const Request& request);

}  // namespace popdist::plan
