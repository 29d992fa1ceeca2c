// SPDX-License-Identifier: Apache-2.0
// After round k a rank has heard, directly or not, from the 2^(k+1) - 1 ranks behind it.
#include "libpopdist/collectives/plan/dissemination_barrier.h"

#include <cstdint>

#include "common/base/check.h"
#include "libpopdist/collectives/plan/steps.h"

namespace popdist::plan {

Plan planDisseminationBarrier(int rank, int ranks) {
  POP_CHECK(ranks >= 1 && rank >= 0 && rank < ranks);
  const auto n = static_cast<std::uint32_t>(ranks);
  const auto me = static_cast<std::uint32_t>(rank);
  Plan plan;
  plan.scratch_count = ranks > 1 ? 1 : 0;
  std::uint32_t round = 0;
  for (std::uint32_t distance = 1; distance < n; distance *= 2, ++round) {
    plan.steps.push_back(sendStep(round, static_cast<int>((me + distance) % n), {Buffer::kInput, 0}, 1));
    plan.steps.push_back(
        recvStep(round, static_cast<int>((me + n - distance) % n), {Buffer::kScratch, 0}, 1));
  }
  return plan;
}

}  // namespace popdist::plan
