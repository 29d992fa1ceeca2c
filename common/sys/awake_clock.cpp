// SPDX-License-Identifier: Apache-2.0
#include "common/sys/awake_clock.h"

#include <ctime>

namespace pop::sys {
namespace {

AwakeTime::Duration computeTimeOfThisThread() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

AwakeClock::time_point AwakeClock::now() {
  thread_local AwakeTime time;
  const auto steady = std::chrono::steady_clock::now().time_since_epoch();
  return time_point(time.at(steady, &computeTimeOfThisThread));
}

}  // namespace pop::sys
