// SPDX-License-Identifier: Apache-2.0
// A clock for deadlines that must not run while their process stands still: Ctrl-Z stops a whole job, and
// when it goes on nobody is late who was not late before. The system has no such clock, and a library does
// not handle SIGCONT in other people's programs. But who waits looks at the clock several times a second, so
// that a gap between two looks in which the thread has not computed either is time in which it could not run.
#pragma once

#include <algorithm>
#include <chrono>

namespace pop::sys {

/// A thread's time without that in which it stood still, from its looks at the time and at how long it has
/// computed.
class AwakeTime {
 public:
  using Duration = std::chrono::nanoseconds;

  /// No wait sleeps so long between two looks.
  static constexpr Duration kStandsStill = std::chrono::seconds(1);
  /// Looks that are closer together do not ask how long it has computed, which is a system call.
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
  Duration last_{Duration::min()};  ///< what it was: it never goes back
};

/// The calling thread's AwakeTime. Each thread has its own: what one has read means nothing to another. While
/// a deadline runs, its thread looks at least every 0.5 s, however it waits; sleep between deadlines is free.
struct AwakeClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<AwakeClock>;
  static constexpr bool is_steady = true;

  static time_point now();
};

}  // namespace pop::sys
