// SPDX-License-Identifier: Apache-2.0
// Both phases work on the same blocks, so the block that a position completes is the first one that it passes
// on.
#include "libpopdist/src/plan/ring_all_reduce.h"

#include <vector>

#include "libpopdist/src/plan/ring.h"

namespace popdist::plan {

Plan planRingAllReduce(int rank, int ranks, std::size_t count) {
  return planRingAllReduce(naturalOrder(ranks), rank, count);
}

Plan planRingAllReduce(std::span<const int> order, int position, std::size_t count) {
  const std::vector<Range> blocks = splitEvenly({0, count}, static_cast<int>(order.size()));
  Plan plan;
  appendRingReduceScatter(plan, order, position, blocks);
  appendRingAllGather(plan, order, position, blocks);
  return plan;
}

}  // namespace popdist::plan
