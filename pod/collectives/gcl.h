// SPDX-License-Identifier: Apache-2.0
// Collectives as GCL makes them: its rings inside each IPU-Link domain, a ring across domains, and its choice
// of a method by size (poplibs, lib/popops/ReplicatedCollectives.cpp and Collectives.cpp, January 2021; GCL
// itself is closed since). `layout` and `group` must be valid.
#pragma once

#include <cstdint>

#include "pod/collectives/collective.h"
#include "pod/collectives/ring_methods.h"
#include "pod/collectives/schedule.h"
#include "pod/system/replica_layout.h"

namespace pop::pod {

/// Methods of the two halves of a collective inside IPU-Link domains. Across domains rings go clockwise.
struct GclMethods {
  RingMethod reduce_scatter = RingMethod::kClockwise;
  RingMethod all_gather = RingMethod::kClockwise;
};

/// GCL's choice ("auto") for a collective of `bytes` a replica in all.
GclMethods automaticMethods(const ReplicaLayout& layout, ReplicaGroup group, std::uint64_t bytes);

/// The collective by these methods. An all-to-all has none: each place sends to one after the other. A
/// broadcast is cut into parts, which are gathered.
Schedule gclSchedule(const ReplicaLayout& layout, const Collective& collective, GclMethods methods = {});

/// Each replica gets the sum over its group.
Schedule gclAllReduce(const ReplicaLayout& layout, ReplicaGroup group, GclMethods methods = {});
/// Each replica gets its part of the sum over *all* replicas, by its place in its group.
Schedule gclReduceScatterOfAll(const ReplicaLayout& layout, ReplicaGroup group, GclMethods methods = {});
/// Each replica has a part, by its place, and gets those of its group.
Schedule gclAllGather(const ReplicaLayout& layout, ReplicaGroup group, GclMethods methods = {});

}  // namespace pop::pod
