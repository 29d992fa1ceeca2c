// SPDX-License-Identifier: Apache-2.0
// Lower bounds for any algorithm on these links, and usual expectations of them: yardsticks of simulated
// times.
#pragma once

#include <cstdint>

#include "pod/collectives/collective.h"
#include "pod/system/picoseconds.h"
#include "pod/system/replica_layout.h"
#include "pod/system/topology.h"

namespace pop::pod {

/// No all-reduce of `bytes` a replica is faster than this. The largest bound over ways of cutting the
/// replicas into groups: every replica by itself, the rows below and above each row, ILD from ILD. With g
/// groups, g - 1 times `bytes` must cross the links between them in each direction (graph strength,
/// Nash-Williams and Tutte). Latency is left out. `topology` must be that of `layout`, which must be valid.
Picoseconds allReduceLowerBound(const Topology& topology, const ReplicaLayout& layout, std::uint64_t bytes);

/// No reduce-scatter or all-gather of `bytes` a replica, in all, is faster than this: the parts of all others
/// must reach the replicas of each of those groups (ForestColl's cut condition).
Picoseconds gatherLowerBound(const Topology& topology, const ReplicaLayout& layout, std::uint64_t bytes);

/// No way to make this collective is faster. Of all replicas together: what must come into the groups of
/// those cuts. Of smaller groups, which share links: what must reach a replica, over all links to it.
Picoseconds lowerBound(const Topology& topology, const ReplicaLayout& layout, const Collective& collective);

/// The usual estimate of an all-reduce of `bytes` a replica, cut evenly over its IPUs: over their links to
/// the next row twice, and on several ILDs 1/replicas of it over a GW-Link. Latency is left out. `layout`
/// must be valid.
Picoseconds allReduceEstimate(const ReplicaLayout& layout, std::uint64_t bytes);

}  // namespace pop::pod
