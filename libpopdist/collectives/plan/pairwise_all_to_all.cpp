// SPDX-License-Identifier: Apache-2.0
// One copy, then one exchange per distance between ranks.
#include "libpopdist/collectives/plan/pairwise_all_to_all.h"

#include "common/base/check.h"
#include "libpopdist/collectives/plan/steps.h"

namespace popdist::plan {

Plan planPairwiseAllToAll(int rank, int ranks, std::size_t count) {
  POP_CHECK(ranks >= 1 && rank >= 0 && rank < ranks);
  const auto block = [count](Buffer buffer, int index) {
    return Slice{buffer, static_cast<std::size_t>(index) * count};
  };

  Plan plan;
  plan.steps.push_back(copyStep(0, block(Buffer::kInput, rank), block(Buffer::kOutput, rank), count));
  for (int distance = 1; distance < ranks; ++distance) {
    const auto round = static_cast<std::uint32_t>(distance);
    const int receiver = (rank + distance) % ranks;
    const int sender = (rank - distance + ranks) % ranks;
    plan.steps.push_back(sendStep(round, receiver, block(Buffer::kInput, receiver), count));
    plan.steps.push_back(recvStep(round, sender, block(Buffer::kOutput, sender), count));
  }
  return plan;
}

}  // namespace popdist::plan
