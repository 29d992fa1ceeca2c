// SPDX-License-Identifier: Apache-2.0
// The simulated clock: how long the Pod itself would take for what the emulator does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pod/collectives/schedule.h"
#include "pod/system/picoseconds.h"
#include "pod/system/replica_layout.h"
#include "pod/system/topology.h"

namespace pop::pod {

struct CollectiveTime {
  Picoseconds total{0};
  int rounds = 0;  ///< that moved data
  std::uint64_t bytes_on_busiest_link = 0;

  /// False: it takes longer, or a link carries more, than can be counted.
  bool isCounted() const { return total < kLongestTime && bytes_on_busiest_link < kMostCounted; }

  friend bool operator==(const CollectiveTime&, const CollectiveTime&) = default;
};

/// Cost of one round of a collective beyond its transfers: software, and a sync up and down the IPU-Link
/// domain.
Picoseconds roundCost(const ReplicaLayout& layout);

/// The time of a collective of `count` elements a replica. Round by round: each transfer is cut evenly over
/// the replica's IPUs, each part follows its route, and the round lasts until its busiest link is done, plus
/// the latency of the longest way, plus roundCost. Sums and copies inside an IPU are not charged (its memory
/// is three orders of magnitude faster than its links). Nothing for no elements, or a single replica. Ends at
/// kLongestTime and kMostCounted bytes.
/// `topology` must be that of `layout`, which must be valid.
/// Cost: O(transfers of one round of each class * hops), and memory for the links.
CollectiveTime simulate(const Topology& topology, const ReplicaLayout& layout, const Schedule& schedule,
                        std::uint64_t count, std::size_t element_bytes);

/// Time for `flops` floating-point operations spread evenly over the IPUs of a replica, at the assumed
/// fraction of the peak. Nothing: kLongestTime or more.
std::optional<Picoseconds> computeTime(const PodSpec& spec, double flops, int ipus_per_replica);

}  // namespace pop::pod
