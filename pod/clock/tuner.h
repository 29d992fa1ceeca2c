// SPDX-License-Identifier: Apache-2.0
// The all-reduce that takes the least simulated time, of all that are known here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pod/clock/clock.h"
#include "pod/collectives/gcl.h"

namespace pop::pod {

struct TimedSchedule {
  std::string name;  ///< such as "meet_in_middle_ring" or "trees (2 trees, 61 chunks)"
  Schedule schedule;
  CollectiveTime time;
};

/// GCL's own choice for a collective over all replicas, of a vector of `count` elements: what they sum, or
/// what each has after an all-gather.
TimedSchedule gclChoice(const Topology& topology, const ReplicaLayout& layout, std::uint64_t count,
                        std::size_t element_bytes, CollectiveKind kind = CollectiveKind::kAllReduce);

/// All methods that can be used, each with the parameters that suit it best; GCL's choice is the first.
/// `topology` must be that of `layout`, which must be valid. Cost: milliseconds to tenths of a second.
std::vector<TimedSchedule> timedAllReduces(const Topology& topology, const ReplicaLayout& layout,
                                           std::uint64_t count, std::size_t element_bytes);

/// The quickest of them, of equals the first.
TimedSchedule quickestAllReduce(const Topology& topology, const ReplicaLayout& layout, std::uint64_t count,
                                std::size_t element_bytes);

}  // namespace pop::pod
