// SPDX-License-Identifier: Apache-2.0
// What is sent must stay as it is while the result is being made, so output and scratch take turns.
#include "libpopdist/src/plan/recursive_doubling_all_reduce.h"

#include <cstdint>
#include <utility>

#include "libpopdist/src/plan/core_ranks.h"

namespace popdist::plan {

Plan planRecursiveDoublingAllReduce(int rank, int ranks, std::size_t count) {
  const CoreRanks core(rank, ranks);
  if (core.isExtra()) return core.planOfExtra(count);
  constexpr Slice kOutput{Buffer::kOutput, 0};
  Plan plan{.scratch_count = ranks > 1 ? count : 0};
  std::uint32_t round = 0;
  if (core.hasExtra())
    plan.steps.push_back(recvReduceStep(round++, core.neighbour(), kOutput, kOutput, count, {}));

  Slice now = kOutput;
  Slice next{Buffer::kScratch, 0};
  for (int mask = 1; mask < core.size(); mask *= 2, ++round) {
    const int partner = core.index() ^ mask;
    const int peer = core.rankOf(partner);
    plan.steps.push_back(sendStep(round, peer, now, count));
    plan.steps.push_back(recvReduceStep(round, peer, now, next, count, core.operandsOf(partner, mask)));
    std::swap(now, next);
  }
  if (core.hasExtra()) plan.steps.push_back(sendStep(round, core.neighbour(), now, count));
  if (now != kOutput) plan.steps.push_back(copyStep(round, now, kOutput, count));
  return plan;
}

}  // namespace popdist::plan
