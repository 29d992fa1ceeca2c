// SPDX-License-Identifier: Apache-2.0
// A hypervisor moves virtual cores to physical ones that share no cache, for seconds at a time: what cores
// hand each other then takes several times as long, in every program. Figures of both states do not compare.
#pragma once

#include <chrono>
#include <functional>

namespace pop::bench::collectives {

class NearCores {
 public:
  /// Measures what a core takes to hand another one something.
  using MeasureHandoverUs = std::function<double()>;

  /// Waits `timeout` at most; none at all: nothing is looked at, and they count as near.
  explicit NearCores(std::chrono::milliseconds timeout);
  NearCores(std::chrono::milliseconds timeout, MeasureHandoverUs handover_us);

  /// Whether they are, now: about as near as this process has ever seen them. Takes some milliseconds, on an
  /// idle machine.
  bool areNear();
  /// Until they are; false: not in time. After three in vain, one after the other, what they are then will
  /// count as near: what they were will not come back.
  bool wait();

  /// Counts how often it has changed what counts as near: what was near before does not compare with what is
  /// near since.
  int standard() const { return standard_; }

 private:
  std::chrono::milliseconds timeout_;
  MeasureHandoverUs handover_us_;
  double nearest_us_ = 0;
  int in_vain_ = 0;  ///< waits, one after the other
  int standard_ = 0;
};

}  // namespace pop::bench::collectives
