// SPDX-License-Identifier: Apache-2.0
// Ranks are counted from the root. The longest stride comes first, so each subtree is a run of consecutive
// ranks: where neighbours share a host, few messages cross to another one.
#include "libpopdist/collectives/plan/tree_broadcast.h"

#include <bit>
#include <cstdint>

#include "common/base/check.h"
#include "libpopdist/collectives/plan/steps.h"

namespace popdist::plan {

Plan planTreeBroadcast(int rank, int ranks, int root, std::size_t count) {
  POP_CHECK(ranks >= 1 && rank >= 0 && rank < ranks && root >= 0 && root < ranks);
  const auto n = static_cast<std::uint32_t>(ranks);
  const auto first = static_cast<std::uint32_t>(root);
  const std::uint32_t me = (static_cast<std::uint32_t>(rank) + n - first) % n;
  const auto rankOf = [&](std::uint32_t relative) { return static_cast<int>((relative + first) % n); };

  constexpr Slice kData{Buffer::kOutput, 0};
  Plan plan;
  std::uint32_t round = 0;
  for (std::uint32_t stride = std::bit_ceil(n) / 2; stride > 0; stride /= 2, ++round) {
    const bool has_data = me % (2 * stride) == 0;
    if (has_data && me + stride < n) {
      plan.steps.push_back(sendStep(round, rankOf(me + stride), kData, count));
    } else if (me % (2 * stride) == stride) {
      plan.steps.push_back(recvStep(round, rankOf(me - stride), kData, count));
    }
  }
  return plan;
}

}  // namespace popdist::plan
