// SPDX-License-Identifier: Apache-2.0
// Each round sends all and reduces all, in place.
#include "libpopdist/collectives/plan/recursive_doubling_all_reduce.h"

#include <cstdint>

#include "libpopdist/collectives/plan/power_of_two_ranks.h"

namespace popdist::plan {

Plan planRecursiveDoublingAllReduce(int rank, int ranks, std::size_t count) {
  const PowerOfTwoRanks power(rank, ranks);
  if (power.isExtra()) return power.planOfExtra(count);
  constexpr Slice kOutput{Buffer::kOutput, 0};
  Plan plan;
  std::uint32_t round = 0;
  if (power.hasExtra())
    plan.steps.push_back(recvReduceStep(round++, power.neighbour(), kOutput, kOutput, count, {}));
  for (int mask = 1; mask < power.size(); mask *= 2, ++round) {
    const int partner = power.index() ^ mask;
    const int peer = power.rankOf(partner);
    plan.steps.push_back(sendStep(round, peer, kOutput, count));
    plan.steps.push_back(
        recvReduceStep(round, peer, kOutput, kOutput, count, power.operandsOf(partner, mask)));
  }
  if (power.hasExtra()) plan.steps.push_back(sendStep(round, power.neighbour(), kOutput, count));
  return plan;
}

}  // namespace popdist::plan
