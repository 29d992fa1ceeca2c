// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives_speed/near_cores.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "bench/collectives_speed/limits/limits.h"

namespace pop::bench::collectives {
namespace {

// Observed handovers take 0.05 us or 0.35 us, with nothing in between.
constexpr double kFar = 2.5;
constexpr std::chrono::milliseconds kBetween{100};
constexpr int kMostInVain = 3;

}  // namespace

NearCores::NearCores(std::chrono::milliseconds timeout)
    : NearCores(coreCount() < 2 ? std::chrono::milliseconds(0) : timeout, flagHandoverUs) {}

NearCores::NearCores(std::chrono::milliseconds timeout, MeasureHandoverUs handover_us)
    : timeout_(timeout), handover_us_(std::move(handover_us)) {}

bool NearCores::areNear() {
  if (timeout_.count() <= 0) return true;
  const double now_us = std::min(handover_us_(), handover_us_());  // an interruption makes it longer
  if (now_us * kFar < nearest_us_) ++standard_;
  nearest_us_ = nearest_us_ == 0 ? now_us : std::min(nearest_us_, now_us);
  return now_us <= kFar * nearest_us_;
}

bool NearCores::wait() {
  const auto deadline = std::chrono::steady_clock::now() + timeout_;
  for (;;) {
    if (areNear()) {
      in_vain_ = 0;
      return true;
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      if (++in_vain_ == kMostInVain) {
        nearest_us_ = 0;
        ++standard_;
      }
      return false;
    }
    std::this_thread::sleep_for(kBetween);
  }
}

}  // namespace pop::bench::collectives
