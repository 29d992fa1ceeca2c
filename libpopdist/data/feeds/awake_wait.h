// SPDX-License-Identifier: Apache-2.0
// Waits that do not count time in which this process is stopped, such as by Ctrl-Z in poprun.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "common/sys/awake_clock.h"

namespace popdist::io {

/// False: `longest` has passed, and `condition` never held.
template <typename Condition>
bool waitAwake(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
               std::chrono::milliseconds longest, const Condition& condition) {
  using Clock = pop::sys::AwakeClock;
  constexpr std::chrono::milliseconds kWaitMax = std::chrono::hours(24 * 365);  // now + more would overflow
  constexpr Clock::duration kBetweenLooks = std::chrono::milliseconds(500);  // AwakeClock needs short turns
  const Clock::time_point deadline = Clock::now() + std::min(longest, kWaitMax);
  while (!condition()) {
    const Clock::duration left = deadline - Clock::now();
    if (left <= Clock::duration::zero()) return false;
    changed.wait_for(lock, std::min(left, kBetweenLooks));
  }
  return true;
}

}  // namespace popdist::io
