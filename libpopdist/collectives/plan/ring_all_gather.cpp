// SPDX-License-Identifier: Apache-2.0
// The own block is sent straight from the input, so copying it to the output needs no round of its own.
#include "libpopdist/collectives/plan/ring_all_gather.h"

#include <algorithm>

#include "common/base/check.h"
#include "libpopdist/collectives/plan/ring.h"
#include "libpopdist/collectives/plan/steps.h"

namespace popdist::plan {

Plan planRingAllGather(int rank, int ranks, std::size_t count) {
  POP_CHECK(ranks >= 1);
  const std::size_t total = static_cast<std::size_t>(ranks) * count;
  return planRingAllGather(naturalOrder(ranks), rank, splitEvenly({0, total}, ranks));
}

Plan planRingAllGather(std::span<const int> order, int position, std::span<const Range> blocks) {
  POP_CHECK(position >= 0 && static_cast<std::size_t>(position) < blocks.size());
  const Range& own = blocks[static_cast<std::size_t>(position)];
  Plan plan;
  appendRingAllGather(plan, order, position, blocks, {Buffer::kInput, 0});
  // For the first round: a step must not come before those of a lower round.
  const auto second_round =
      std::find_if(plan.steps.begin(), plan.steps.end(), [](const Step& step) { return step.round > 0; });
  plan.steps.insert(second_round, copyStep(0, {Buffer::kInput, 0}, {Buffer::kOutput, own.begin}, own.count));
  return plan;
}

}  // namespace popdist::plan
