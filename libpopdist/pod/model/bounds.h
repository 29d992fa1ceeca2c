// SPDX-License-Identifier: Apache-2.0
// Lower bounds for any algorithm on these links, and usual expectations of them: yardsticks of simulated
// times.
#pragma once

#include <cstdint>

#include "libpopdist/pod/model/picoseconds.h"
#include "libpopdist/pod/model/replica_layout.h"

namespace popdist::pod {

/// No all-reduce of `bytes` a replica is faster than this. The largest bound over three ways of cutting the
/// replicas into groups: every replica by itself, across the rails, Pod from Pod. With g groups, g - 1 times
/// `bytes` must cross the links between them in each direction (graph strength, Nash-Williams and Tutte).
/// Latency is left out. `layout` must be valid.
Picoseconds allReduceLowerBound(const ReplicaLayout& layout, std::uint64_t bytes);

/// The usual estimate of an all-reduce of `bytes` a replica, cut evenly over its IPUs: over their links to
/// the next row twice, and on several Pods 1/replicas of it over a GW-Link. Latency is left out. `layout`
/// must be valid.
Picoseconds allReduceEstimate(const ReplicaLayout& layout, std::uint64_t bytes);

}  // namespace popdist::pod
