// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/plan/tree_reduce.h"

#include <cstdint>

#include "libpopdist/collectives/plan/steps.h"

namespace popdist::plan {

Plan planTreeReduce(int rank, int ranks, int root, std::size_t count) {
  const int place = (rank - root + ranks) % ranks;  // 0: the root
  const Slice result = rank == root ? Slice{Buffer::kOutput, 0} : Slice{Buffer::kScratch, 0};
  Slice own{Buffer::kInput, 0};
  Plan plan;
  std::uint32_t round = 0;
  for (int mask = 1; mask < ranks; mask *= 2) {
    if ((place & mask) != 0) {
      plan.steps.push_back(sendStep(round, (rank - mask + ranks) % ranks, own, count));
      return plan;
    }
    if (place + mask >= ranks) continue;
    const bool first = own.buffer == Buffer::kInput;
    const bool incoming_is_one = mask == 1 || place + mask + 1 >= ranks;
    const bool last = place == 0 && 2 * mask >= ranks;
    plan.steps.push_back(
        recvReduceStep(round++, (rank + mask) % ranks, own, result, count,
                       {.own_is_partial = !first, .incoming_is_partial = !incoming_is_one, .last = last}));
    own = result;
    if (result.buffer == Buffer::kScratch) plan.scratch_count = count;
  }
  if (ranks == 1) plan.steps.push_back(copyStep(0, own, result, count));
  return plan;
}

}  // namespace popdist::plan
