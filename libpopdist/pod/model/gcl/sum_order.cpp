// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/model/gcl/sum_order.h"

#include <algorithm>

#include "common/base/check.h"
#include "libpopdist/collectives/plan/ring.h"
#include "libpopdist/pod/model/gcl/replica_ring.h"

namespace popdist::pod::gcl {
namespace {

// A partial sum starts at the position after the block's owner, which adds last.
std::vector<int> onceAround(std::vector<int> ring, int owner) {
  std::rotate(ring.begin(), ring.begin() + (owner + 1) % static_cast<int>(ring.size()), ring.end());
  return ring;
}

}  // namespace

// A block of a domain's ring is cut into one for each domain.
SumOrder::SumOrder(const ReplicaLayout& layout)
    : per_ild_(layout.replicasPerIld()), ilds_(layout.ildCount()) {
  POP_CHECK(validate(layout).ok());
  for (int position = 0; position < per_ild_; ++position) {
    const std::vector<int> inside = onceAround(replicaRing(per_ild_), position);
    for (int part = 0; part < ilds_; ++part) {
      Terms& terms = terms_.emplace_back();
      for (const int ild : onceAround(plan::naturalOrder(ilds_), part)) {
        std::vector<int>& replicas = terms.emplace_back(inside);
        for (int& replica : replicas) replica += ild * per_ild_;
      }
    }
  }
}

plan::Range SumOrder::elementsOf(std::size_t block, std::size_t count) const {
  const int index = static_cast<int>(block);
  const plan::Range inside = plan::blockRange(count, per_ild_, index / ilds_);
  const plan::Range part = plan::blockRange(inside.count, ilds_, index % ilds_);
  return {inside.begin + part.begin, part.count};
}

}  // namespace popdist::pod::gcl
