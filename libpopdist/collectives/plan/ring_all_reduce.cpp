// SPDX-License-Identifier: Apache-2.0
// Both phases work on the same blocks, so the block that a position completes is the first one that it passes
// on.
#include "libpopdist/collectives/plan/ring_all_reduce.h"

#include <algorithm>
#include <vector>

#include "libpopdist/collectives/plan/ring.h"

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

Plan planSegmentedRingAllReduce(int rank, int ranks, std::size_t count, std::size_t block_count) {
  const std::vector<int> order = naturalOrder(ranks);
  const std::size_t most = std::max<std::size_t>(block_count, 1) * order.size();
  Plan plan;
  std::size_t begin = 0;
  do {  // a rest is not worth rounds of its own
    const std::size_t left = count - begin;
    const std::size_t segment = left <= most + most / 8 ? left : most;
    const std::vector<Range> blocks = splitEvenly({begin, segment}, ranks);
    appendRingReduceScatter(plan, order, rank, blocks);
    appendRingAllGather(plan, order, rank, blocks);
    begin += segment;
  } while (begin < count);
  return plan;
}

}  // namespace popdist::plan
