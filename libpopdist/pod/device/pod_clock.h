// SPDX-License-Identifier: Apache-2.0
// The simulated time of a job on its Pod, and what it went into.
#pragma once

#include <cstddef>
#include <map>
#include <tuple>

#include "common/base/status.h"
#include "pod/collectives/gcl.h"
#include "pod/system/replica_layout.h"
#include "pod/system/topology.h"
#include "popdist/pod.hpp"

namespace popdist::pod {

using namespace pop::pod;

class PodClock {
 public:
  explicit PodClock(const ReplicaLayout& layout) : layout_(layout), topology_(layout.spec) {}

  const Pod::Times& times() const { return times_; }
  SimulatedTime collectiveTime() const {
    return times_.all_reduce + times_.reduce_scatter + times_.all_gather;
  }
  SimulatedTime time() const { return times_.compute + collectiveTime() + times_.streaming; }

  /// kInvalidArgument, and nothing has changed: negative, or the time would be more than can be counted.
  pop::Status addCompute(SimulatedTime time) { return add(time, times_.compute); }
  pop::Status addStreaming(SimulatedTime time) { return add(time, times_.streaming); }

  /// Adds a collective of `count` elements, in groups of `group` replicas, which divides them.
  void addCollective(CollectiveKind collective, int group, std::size_t count, std::size_t element_bytes);

 private:
  using Key = std::tuple<CollectiveKind, int, std::size_t, std::size_t>;

  pop::Status add(SimulatedTime time, SimulatedTime& part);
  SimulatedTime simulated(const Key& key);

  const ReplicaLayout layout_;
  const Topology topology_;
  Pod::Times times_;
  std::map<Key, SimulatedTime> simulated_;
};

}  // namespace popdist::pod
