// SPDX-License-Identifier: Apache-2.0
// A hypervisor may move virtual cores to physical ones that share no cache, for seconds at a time: handovers
// between cores then take several times as long, in every program. Figures of the two states cannot be
// compared.
#pragma once

#include <chrono>
#include <functional>

namespace pop::bench::collectives {

class NearCores {
 public:
  /// Measures the time of a handover from one core to another.
  using MeasureHandoverUs = std::function<double()>;

  /// Waits `timeout` at most. Zero: measures nothing, and the cores count as near.
  explicit NearCores(std::chrono::milliseconds timeout);
  NearCores(std::chrono::milliseconds timeout, MeasureHandoverUs handover_us);

  /// True if the cores are near now: about as near as this process has ever measured. Takes some milliseconds
  /// on an idle machine.
  bool areNear();
  /// Waits until the cores are near; false if that took too long. After three timeouts in a row, the present
  /// distance counts as near: the former state will not come back.
  bool wait();

  /// Counts the changes of the reference distance: figures from before and after a change cannot be compared.
  int standard() const { return standard_; }

 private:
  std::chrono::milliseconds timeout_;
  MeasureHandoverUs handover_us_;
  double nearest_us_ = 0;
  int in_vain_ = 0;  ///< waits, one after the other
  int standard_ = 0;
};

}  // namespace pop::bench::collectives
