// SPDX-License-Identifier: Apache-2.0
// The simulated time of a job on its Pod, and what it went into.
#pragma once

#include "common/base/status.h"
#include "pod/collectives/collective.h"
#include "popdist/pod.hpp"

namespace popdist::pod {

using namespace pop::pod;

class PodClock {
 public:
  const Pod::Times& times() const { return times_; }
  SimulatedTime collectiveTime() const {
    return times_.all_reduce + times_.reduce_scatter + times_.all_gather + times_.all_to_all +
           times_.broadcast;
  }
  SimulatedTime time() const { return times_.compute + onIoTiles() - times_.hidden; }
  const PodCollective& lastCollective() const { return last_; }

  /// kInvalidArgument, and nothing has changed: negative, or the time would be more than can be counted.
  pop::Status addCompute(SimulatedTime time) { return add(time, times_.compute); }
  pop::Status addStreaming(SimulatedTime time) { return add(time, times_.streaming); }

  void addCollective(CollectiveKind kind, const PodCollective& collective);

  /// Computation is beside collectives and streaming until the same number of ends.
  void beginOverlap();
  void endOverlap();

 private:
  SimulatedTime onIoTiles() const { return collectiveTime() + times_.streaming; }
  pop::Status add(SimulatedTime time, SimulatedTime& part);
  SimulatedTime& partOf(CollectiveKind kind);

  Pod::Times times_;
  PodCollective last_;
  int overlaps_ = 0;
  SimulatedTime compute_before_{0};  ///< the outermost overlap
  SimulatedTime on_io_tiles_before_{0};
};

}  // namespace popdist::pod
