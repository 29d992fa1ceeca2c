// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/pod/model/gcl/sum_order.h"

#include <algorithm>

#include "common/base/check.h"
#include "libpopdist/src/plan/ring.h"
#include "libpopdist/src/pod/model/gcl/replica_ring.h"

namespace popdist::pod::gcl {
namespace {

// A partial sum starts behind the one that owns the block, who is the last to add.
std::vector<int> onceAround(std::vector<int> ring, int owner) {
  std::rotate(ring.begin(), ring.begin() + (owner + 1) % static_cast<int>(ring.size()), ring.end());
  return ring;
}

}  // namespace

std::vector<SumBlock> sumOrder(const ReplicaLayout& layout, std::size_t count) {
  POP_CHECK(validate(layout).ok());
  const int per_ild = layout.replicasPerIld();
  const int ilds = layout.ildCount();
  const std::vector<plan::Range> blocks = plan::splitEvenly({0, count}, per_ild);
  std::vector<SumBlock> order;
  for (int position = 0; position < per_ild; ++position) {
    const std::vector<int> inside = onceAround(replicaRing(per_ild), position);
    const std::vector<plan::Range> parts =
        plan::splitEvenly(blocks[static_cast<std::size_t>(position)], ilds);
    for (int part = 0; part < ilds; ++part) {
      SumBlock block{parts[static_cast<std::size_t>(part)], {}};
      if (block.elements.count == 0) continue;
      for (const int ild : onceAround(plan::naturalOrder(ilds), part)) {
        std::vector<int>& replicas = block.domains.emplace_back(inside);
        for (int& replica : replicas) replica += ild * per_ild;
      }
      order.push_back(std::move(block));
    }
  }
  return order;
}

}  // namespace popdist::pod::gcl
