// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/model/gcl/all_reduce.h"

#include <algorithm>
#include <vector>

#include "common/base/check.h"
#include "libpopdist/collectives/plan/ring.h"
#include "libpopdist/collectives/plan/steps.h"
#include "libpopdist/pod/model/gcl/replica_ring.h"

namespace popdist::pod::gcl {
namespace {

struct BlockRing {
  std::vector<int> order;
  int position = 0;
  std::vector<plan::Range> blocks;

  plan::Range own() const { return blocks[static_cast<std::size_t>(position)]; }
};

/// Round the replicas of `replica`'s IPU-Link domain.
BlockRing ringInside(const ReplicaLayout& layout, int replica, std::size_t count) {
  POP_CHECK(validate(layout).ok());
  POP_CHECK(replica >= 0 && replica < layout.replicas);
  const int per_ild = layout.replicasPerIld();
  BlockRing ring{replicaRing(per_ild), ringPosition(per_ild, replica % per_ild),
                 plan::splitEvenly({0, count}, per_ild)};
  for (int& rank : ring.order) rank += replica / per_ild * per_ild;
  return ring;
}

/// Round the replicas in the same place of all IPU-Link domains.
BlockRing ringAcross(const ReplicaLayout& layout, int replica, plan::Range block) {
  const int per_ild = layout.replicasPerIld();
  BlockRing ring{{}, replica / per_ild, plan::splitEvenly(block, layout.ildCount())};
  for (int ild = 0; ild < layout.ildCount(); ++ild) ring.order.push_back(ild * per_ild + replica % per_ild);
  return ring;
}

/// Elements of which `replica` has the sum when rings have been reduced.
plan::Range summedBy(const ReplicaLayout& layout, int replica, std::size_t count) {
  return ringAcross(layout, replica, ringInside(layout, replica, count).own()).own();
}

plan::Range overlap(plan::Range a, plan::Range b) {
  const std::size_t begin = std::max(a.begin, b.begin);
  const std::size_t end = std::min(a.begin + a.count, b.begin + b.count);
  return {begin, end > begin ? end - begin : 0};
}

}  // namespace

plan::Plan planDeviceAllReduce(const ReplicaLayout& layout, int replica, std::size_t count) {
  const BlockRing inside = ringInside(layout, replica, count);
  plan::Plan plan;
  plan::appendRingReduceScatter(plan, inside.order, inside.position, inside.blocks);
  if (layout.ildCount() > 1) {
    const BlockRing across = ringAcross(layout, replica, inside.own());
    plan::appendRingReduceScatter(plan, across.order, across.position, across.blocks);
    plan::appendRingAllGather(plan, across.order, across.position, across.blocks);
  }
  plan::appendRingAllGather(plan, inside.order, inside.position, inside.blocks);
  return plan;
}

plan::Plan planDeviceReduceScatter(const ReplicaLayout& layout, int replica, std::size_t count,
                                   std::span<const Need> needs) {
  const BlockRing inside = ringInside(layout, replica, count);
  const BlockRing across = ringAcross(layout, replica, inside.own());
  plan::Plan plan;
  plan::appendRingReduceScatter(plan, inside.order, inside.position, inside.blocks);
  plan::appendRingReduceScatter(plan, across.order, across.position, across.blocks);
  const std::uint32_t round = plan::nextRound(plan);
  for (const Need& need : needs) {
    if (need.replica != replica) {
      const plan::Range sent = overlap(across.own(), need.elements);
      if (sent.count > 0)
        plan.steps.push_back(
            plan::sendStep(round, need.replica, {plan::Buffer::kOutput, sent.begin}, sent.count));
      continue;
    }
    for (int from = 0; from < layout.replicas; ++from) {
      const plan::Range got = overlap(summedBy(layout, from, count), need.elements);
      if (from != replica && got.count > 0)
        plan.steps.push_back(plan::recvStep(round, from, {plan::Buffer::kOutput, got.begin}, got.count));
    }
  }
  return plan;
}

}  // namespace popdist::pod::gcl
