// SPDX-License-Identifier: Apache-2.0
// Calls that are made of others share their time among them.
#pragma once

#include <algorithm>
#include <chrono>

#include "common/sys/awake_clock.h"

namespace popdist::group {

/// Until `deadline`, of the calling thread; at least a millisecond, in which others can still be heard.
inline std::chrono::milliseconds timeLeft(pop::sys::AwakeClock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - pop::sys::AwakeClock::now());
  return std::max(left, std::chrono::milliseconds(1));
}

}  // namespace popdist::group
