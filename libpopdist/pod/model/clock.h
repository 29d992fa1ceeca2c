// SPDX-License-Identifier: Apache-2.0
// The simulated clock: how long the Pod itself would take for what the emulator does. It walks the same plans
// that move the data, so the time can never belong to another algorithm than the one that ran.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "libpopdist/collectives/plan/plan.h"
#include "libpopdist/pod/model/picoseconds.h"
#include "libpopdist/pod/model/replica_layout.h"

namespace popdist::pod {

struct CollectiveTime {
  Picoseconds total{0};
  int rounds = 0;  ///< that moved data
  std::uint64_t bytes_on_busiest_link = 0;

  friend bool operator==(const CollectiveTime&, const CollectiveTime&) = default;
};

/// Cost of one round of a collective beyond its transfers: software, and a sync up and down the IPU-Link
/// domain.
Picoseconds roundCost(const ReplicaLayout& layout);

/// The time of the collective that `plans` describe, one plan for each replica. Round by round: each
/// replica's message is cut evenly over its IPUs, each part follows its route, and the round lasts until its
/// busiest link is done, plus roundCost. Rounds that move nothing cost nothing; sums and copies inside an IPU
/// are not charged (its memory is three orders of magnitude faster than its links). `layout` must be valid.
/// Cost: O(messages * ipus_per_replica * hops); callers keep the result for collectives of the same shape.
CollectiveTime simulate(const ReplicaLayout& layout, std::span<const plan::Plan> plans,
                        std::size_t element_bytes);

/// Time for `flops` floating-point operations spread evenly over the IPUs of a replica, at the assumed
/// fraction of the peak. Nothing: more than picoseconds can be counted.
std::optional<Picoseconds> computeTime(const PodSpec& spec, double flops, int ipus_per_replica);

}  // namespace popdist::pod
