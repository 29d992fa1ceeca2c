// SPDX-License-Identifier: Apache-2.0
// The simulated time of a job on its Pod, and what it went into.
#pragma once

#include <memory>
#include <utility>

#include "common/base/status.h"
#include "libpopdist/pod/device/pod_trace.h"
#include "libpopdist/pod/device/programs.h"
#include "pod/collectives/collective.h"
#include "popdist/pod.hpp"

namespace popdist::pod {

using namespace pop::pod;

class PodClock {
 public:
  /// nullptr: nobody asks for a trace.
  explicit PodClock(std::unique_ptr<PodTrace> trace) : trace_(std::move(trace)) {}

  const Pod::Times& times() const { return times_; }
  SimulatedTime collectiveTime() const {
    return times_.all_reduce + times_.reduce_scatter + times_.all_gather + times_.all_to_all +
           times_.broadcast;
  }
  SimulatedTime time() const { return times_.compute + onIoTiles() - hidden(); }
  const PodCollective& lastCollective() const { return last_; }

  /// kInvalidArgument, and nothing has changed: negative, or the time would be more than can be counted.
  pop::Status addCompute(SimulatedTime time);
  pop::Status addStreaming(SimulatedTime time);

  /// kInvalidArgument: the time would be more than can be counted.
  pop::Status checkCollective(const PodCollective& collective) const;
  void addCollective(Program& program);

  /// Computation is beside collectives and streaming until the same number of ends.
  void beginOverlap();
  void endOverlap();

 private:
  SimulatedTime onIoTiles() const { return collectiveTime() + times_.streaming; }
  pop::Status check(SimulatedTime time) const;
  SimulatedTime hidden() const;          ///< that of an overlap which has not ended, too
  SimulatedTime computeBegin() const;    ///< of the next computation
  SimulatedTime onIoTilesBegin() const;  ///< of the next collective or streaming
  SimulatedTime& partOf(CollectiveKind kind);

  Pod::Times times_;
  PodCollective last_;
  std::unique_ptr<PodTrace> trace_;
  int overlaps_ = 0;
  SimulatedTime time_before_{0};  ///< the outermost overlap
  SimulatedTime compute_before_{0};
  SimulatedTime on_io_tiles_before_{0};
};

}  // namespace popdist::pod
