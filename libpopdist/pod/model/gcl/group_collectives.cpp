// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/model/gcl/group_collectives.h"

#include <utility>
#include <vector>

#include "common/base/check.h"
#include "libpopdist/collectives/plan/ring.h"
#include "libpopdist/pod/model/gcl/replica_ring.h"

namespace popdist::pod::gcl {
namespace {

struct Ring {
  std::vector<int> order;
  int position = 0;
};

/// `members` replicas from `first` on, one for each `stride`; `place` of them is the own one.
Ring inOrder(int members, int first, int stride, int place) {
  std::vector<int> order = plan::naturalOrder(members);
  for (int& rank : order) rank = first + rank * stride;
  return {std::move(order), place};
}

/// GCL's ring of `members` consecutive replicas.
Ring interleaved(int members, int first, int place) {
  std::vector<int> order = replicaRing(members);
  for (int& rank : order) rank += first;
  return {std::move(order), ringPosition(members, place)};
}

/// One after the other, each cuts the block that the one before has left to a replica.
using Rings = std::vector<Ring>;

struct GroupRings {
  Rings inside;   ///< a group's
  Rings between;  ///< replicas that have the same part
};

GroupRings ringsOf(const ReplicaLayout& layout, int group, int replica) {
  POP_CHECK(validate(layout).ok());
  POP_CHECK(group >= 1 && layout.replicas % group == 0);
  POP_CHECK(replica >= 0 && replica < layout.replicas);
  const int all = layout.replicas;
  const int per_ild = layout.replicasPerIld();
  const int first = replica / group * group;
  const int place = replica % group;
  if (per_ild % group == 0) {  // within an IPU-Link domain
    const int ild = replica / per_ild;
    GroupRings rings{{interleaved(group, first, place)}, {}};
    rings.between.push_back(
        inOrder(per_ild / group, ild * per_ild + place, group, replica % per_ild / group));
    rings.between.push_back(inOrder(layout.ildCount(), replica % per_ild, per_ild, ild));
    return rings;
  }
  GroupRings rings{{}, {inOrder(all / group, place, group, replica / group)}};
  if (group % per_ild == 0) {  // whole domains
    rings.inside.push_back(interleaved(per_ild, replica / per_ild * per_ild, replica % per_ild));
    rings.inside.push_back(inOrder(group / per_ild, first + place % per_ild, per_ild, place / per_ild));
  } else {
    rings.inside.push_back(inOrder(group, first, 1, place));
  }
  return rings;
}

using Blocks = std::vector<std::vector<plan::Range>>;  // one for each ring

/// The blocks of `whole` by `rings`; leaves the replica's part there.
Blocks cut(const Rings& rings, plan::Range& whole) {
  Blocks blocks;
  for (const Ring& ring : rings) {
    blocks.push_back(plan::splitEvenly(whole, static_cast<int>(ring.order.size())));
    whole = blocks.back()[static_cast<std::size_t>(ring.position)];
  }
  return blocks;
}

void appendReduceScatter(plan::Plan& plan, const Rings& rings, const Blocks& blocks) {
  for (std::size_t i = 0; i < rings.size(); ++i)
    plan::appendRingReduceScatter(plan, rings[i].order, rings[i].position, blocks[i]);
}

void appendAllGather(plan::Plan& plan, const Rings& rings, const Blocks& blocks) {
  for (std::size_t i = rings.size(); i-- > 0;)
    plan::appendRingAllGather(plan, rings[i].order, rings[i].position, blocks[i]);
}

void appendAllReduce(plan::Plan& plan, const Rings& rings, plan::Range whole) {
  const Blocks blocks = cut(rings, whole);
  appendReduceScatter(plan, rings, blocks);
  appendAllGather(plan, rings, blocks);
}

}  // namespace

plan::Plan planGroupReduceScatter(const ReplicaLayout& layout, int group, int replica, std::size_t count) {
  const GroupRings rings = ringsOf(layout, group, replica);
  plan::Plan plan;
  plan::Range part{0, count};
  const Blocks blocks = cut(rings.inside, part);
  appendReduceScatter(plan, rings.inside, blocks);
  appendAllReduce(plan, rings.between, part);
  return plan;
}

plan::Plan planGroupAllGather(const ReplicaLayout& layout, int group, int replica, std::size_t count) {
  const GroupRings rings = ringsOf(layout, group, replica);
  plan::Plan plan;
  plan::Range part{0, count};
  appendAllGather(plan, rings.inside, cut(rings.inside, part));
  return plan;
}

plan::Plan planGroupAllReduce(const ReplicaLayout& layout, int group, int replica, std::size_t count) {
  plan::Plan plan;
  appendAllReduce(plan, ringsOf(layout, group, replica).inside, {0, count});
  return plan;
}

}  // namespace popdist::pod::gcl
