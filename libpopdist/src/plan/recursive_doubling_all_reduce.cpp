// SPDX-License-Identifier: Apache-2.0
// Each round sends all and reduces all, in place.
#include "libpopdist/src/plan/recursive_doubling_all_reduce.h"

#include <cstdint>

#include "libpopdist/src/plan/core_ranks.h"

namespace popdist::plan {

Plan planRecursiveDoublingAllReduce(int rank, int ranks, std::size_t count) {
  const CoreRanks core(rank, ranks);
  if (core.isExtra()) return core.planOfExtra(count);
  constexpr Slice kOutput{Buffer::kOutput, 0};
  Plan plan;
  std::uint32_t round = 0;
  if (core.hasExtra())
    plan.steps.push_back(recvReduceStep(round++, core.neighbour(), kOutput, kOutput, count, {}));
  for (int mask = 1; mask < core.size(); mask *= 2, ++round) {
    const int partner = core.index() ^ mask;
    const int peer = core.rankOf(partner);
    plan.steps.push_back(sendStep(round, peer, kOutput, count));
    plan.steps.push_back(
        recvReduceStep(round, peer, kOutput, kOutput, count, core.operandsOf(partner, mask)));
  }
  if (core.hasExtra()) plan.steps.push_back(sendStep(round, core.neighbour(), kOutput, count));
  return plan;
}

}  // namespace popdist::plan
