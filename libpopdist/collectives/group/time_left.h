// SPDX-License-Identifier: Apache-2.0
// Divides the time of a call among the calls it is made of.
#pragma once

#include <algorithm>
#include <chrono>

#include "common/sys/awake_clock.h"

namespace popdist::group {

/// The time until `deadline` by the calling thread's clock; at least a millisecond, so that others can still
/// be heard.
inline std::chrono::milliseconds timeLeft(pop::sys::AwakeClock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - pop::sys::AwakeClock::now());
  return std::max(left, std::chrono::milliseconds(1));
}

}  // namespace popdist::group
