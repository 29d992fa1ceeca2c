// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace pop::bench {

using Clock = std::chrono::steady_clock;

inline double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace pop::bench
