// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/pod/model/gcl/all_reduce.h"

#include <vector>

#include "common/base/check.h"
#include "libpopdist/src/plan/ring.h"
#include "libpopdist/src/pod/model/gcl/replica_ring.h"

namespace popdist::pod::gcl {
namespace {

/// Sums `block` over the replicas in the same place of all IPU-Link domains.
void appendAcrossIlds(plan::Plan& plan, const ReplicaLayout& layout, int replica, plan::Range block) {
  const int per_ild = layout.replicasPerIld();
  std::vector<int> order;
  for (int ild = 0; ild < layout.ildCount(); ++ild) order.push_back(ild * per_ild + replica % per_ild);
  const std::vector<plan::Range> blocks = plan::splitEvenly(block, layout.ildCount());
  plan::appendRingReduceScatter(plan, order, replica / per_ild, blocks);
  plan::appendRingAllGather(plan, order, replica / per_ild, blocks);
}

}  // namespace

plan::Plan planDeviceAllReduce(const ReplicaLayout& layout, int replica, std::size_t count) {
  POP_CHECK(validate(layout).ok());
  POP_CHECK(replica >= 0 && replica < layout.replicas);
  const int per_ild = layout.replicasPerIld();
  const int position = ringPosition(per_ild, replica % per_ild);
  std::vector<int> order = replicaRing(per_ild);
  for (int& rank : order) rank += replica / per_ild * per_ild;
  const std::vector<plan::Range> blocks = plan::splitEvenly({0, count}, per_ild);

  plan::Plan plan;
  plan::appendRingReduceScatter(plan, order, position, blocks);
  if (layout.ildCount() > 1) {
    appendAcrossIlds(plan, layout, replica, blocks[static_cast<std::size_t>(position)]);
  }
  plan::appendRingAllGather(plan, order, position, blocks);
  return plan;
}

}  // namespace popdist::pod::gcl
