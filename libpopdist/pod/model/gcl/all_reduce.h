// SPDX-License-Identifier: Apache-2.0
// GCL's all-reduce over replicas, as a plan: a ring inside one IPU-Link domain, three phases across several.
#pragma once

#include <cstddef>
#include <span>

#include "libpopdist/collectives/plan/plan.h"
#include "libpopdist/pod/model/replica_layout.h"

namespace popdist::pod::gcl {

/// The steps of `replica`, in place on Buffer::kOutput; ranks are replica indices. `layout` must be valid.
/// One IPU-Link domain: reduce-scatter and all-gather round the ring of replicas.
/// Several: reduce-scatter round the ring of each domain; ring all-reduce of the block that a replica then
/// owns with the replicas in the same place of the other domains, over GW-Links; all-gather round the ring of
/// each domain. The order of summation depends on (layout, count) alone: not on instances, hosts or
/// transports. O(replicas) steps.
plan::Plan planDeviceAllReduce(const ReplicaLayout& layout, int replica, std::size_t count);

/// Elements of a sum that a replica needs.
struct Need {
  int replica = 0;
  plan::Range elements;
};

/// The sums of planDeviceAllReduce, bit by bit, only where they are needed: `needs`, one for a replica at
/// most, the same in all plans. Its phases until each element has been summed somewhere, which is 1/replicas
/// of them on each replica; then these go straight to those that need them.
plan::Plan planDeviceReduceScatter(const ReplicaLayout& layout, int replica, std::size_t count,
                                   std::span<const Need> needs);

}  // namespace popdist::pod::gcl
