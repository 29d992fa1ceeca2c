// SPDX-License-Identifier: Apache-2.0
// One row per operation; a switch, so that the compiler notices a missing one.
#include "libpopdist/src/plan/select.h"

#include "libpopdist/src/plan/dissemination_barrier.h"
#include "libpopdist/src/plan/pairwise_all_to_all.h"
#include "libpopdist/src/plan/ring_all_gather.h"
#include "libpopdist/src/plan/ring_all_reduce.h"
#include "libpopdist/src/plan/ring_reduce_scatter.h"
#include "libpopdist/src/plan/tree_broadcast.h"

namespace popdist::plan {

Plan planCollective(const Request& request) {
  const auto& [operation, rank, ranks, count, root] = request;
  switch (operation) {
    case Operation::kAllReduce:
      return planRingAllReduce(rank, ranks, count);
    case Operation::kReduceScatter:
      return planRingReduceScatter(rank, ranks, count);
    case Operation::kAllGather:
      return planRingAllGather(rank, ranks, count);
    case Operation::kBroadcast:
      return planTreeBroadcast(rank, ranks, root, count);
    case Operation::kAllToAll:
      return planPairwiseAllToAll(rank, ranks, count);
    case Operation::kBarrier:
      return planDisseminationBarrier(rank, ranks);
    case Operation::kReduce:
    case Operation::kGather:
    case Operation::kScatter:
      break;
  }
  return {};
}

}  // namespace popdist::plan
