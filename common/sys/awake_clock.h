// SPDX-License-Identifier: Apache-2.0
// A clock for deadlines that must not advance while their process is stopped: Ctrl-Z stops a whole job, and
// when it continues, nobody must be late because of that. The system has no such clock, and a library must
// not handle SIGCONT in other people's programs. Waiting threads read the clock several times a second, so a
// gap between two readings in which the thread has not computed either is time in which it could not run.
#pragma once

#include <algorithm>
#include <chrono>

namespace pop::sys {

/// A thread's time, without the time in which it was stopped, computed from its readings of the time and of
/// its CPU time.
class AwakeTime {
 public:
  using Duration = std::chrono::nanoseconds;

  /// Longer than any wait sleeps between two readings.
  static constexpr Duration kStandsStill = std::chrono::seconds(1);
  /// Readings that are closer together skip the CPU time, which needs a system call.
  static constexpr Duration kBetweenReadings = std::chrono::milliseconds(10);

  template <typename ComputeTime>
  Duration at(Duration now, const ComputeTime& compute_time) {
    const Duration gap = now - last_look_;
    if (gap >= kBetweenReadings) {
      const Duration computed = compute_time();
      const Duration idle = gap - (computed - last_computed_);
      if (idle > kStandsStill) still_ += idle;
      last_look_ = now;
      last_computed_ = computed;
    }
    return last_ = std::max(last_, now - still_);
  }

 private:
  Duration last_look_{0};
  Duration last_computed_{0};
  Duration still_{0};
  Duration last_{Duration::min()};  ///< the previous reading: time never goes back
};

/// The calling thread's AwakeTime. Each thread has its own; readings of different threads cannot be compared.
/// While a deadline runs, its thread must read the clock at least every 0.5 s, however it waits; between
/// deadlines it need not.
struct AwakeClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<AwakeClock>;
  static constexpr bool is_steady = true;

  static time_point now();
};

}  // namespace pop::sys
