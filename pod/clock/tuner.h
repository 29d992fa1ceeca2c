// SPDX-License-Identifier: Apache-2.0
// The schedule of a collective that takes the least simulated time, of all that are known here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "pod/clock/clock.h"
#include "pod/collectives/collective.h"

namespace pop::pod {

struct TimedSchedule {
  std::string name;  ///< such as "meet_in_middle_ring" or "trees (2 trees, 61 chunks)"
  Schedule schedule;
  CollectiveTime time;
};

/// GCL's own choice ("auto").
TimedSchedule gclChoice(const Topology& topology, const ReplicaLayout& layout, const Collective& collective);

/// All methods that can be used, each with the parameters that suit it best; GCL's choice is the first.
/// `topology` must be that of `layout`, which must be valid, as the group must be. Cost: milliseconds to
/// tenths of a second.
std::vector<TimedSchedule> timedSchedules(const Topology& topology, const ReplicaLayout& layout,
                                          const Collective& collective);

/// The quickest of them, of equals the first.
TimedSchedule quickestSchedule(const Topology& topology, const ReplicaLayout& layout,
                               const Collective& collective);

/// By a method that GCL_OPTIONS may name: "auto", a ring's, or "quickest". kInvalidArgument: there is no such
/// method, or this Pod does not have its ring.
Result<TimedSchedule> scheduleByName(const Topology& topology, const ReplicaLayout& layout,
                                     const Collective& collective, const std::string& method);

}  // namespace pop::pod
