// SPDX-License-Identifier: Apache-2.0
// Collectives of groups of consecutive replicas, as plans: of replicas that share a state (replicated tensor
// sharding), or statistics (batch norm). All groups work at the same time. Ranks are replica indices; in
// place on Buffer::kOutput. `layout` must be valid, and `group` must divide its replicas.
#pragma once

#include <cstddef>

#include "libpopdist/collectives/plan/plan.h"
#include "libpopdist/pod/model/replica_layout.h"

namespace popdist::pod::gcl {

/// Each replica gets its part of the sum over all replicas: a reduce-scatter within each group, then an
/// all-reduce of parts between groups. A group within an IPU-Link domain is a ring of it, whole domains are a
/// ring in each and one across; others are a ring in order.
plan::Plan planGroupReduceScatter(const ReplicaLayout& layout, int group, int replica, std::size_t count);

/// Each replica has a part, and gets those of its group.
plan::Plan planGroupAllGather(const ReplicaLayout& layout, int group, int replica, std::size_t count);

/// Each replica gets the sum over its group.
plan::Plan planGroupAllReduce(const ReplicaLayout& layout, int group, int replica, std::size_t count);

}  // namespace popdist::pod::gcl
