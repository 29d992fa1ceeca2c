// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string_view>

#include "libpopdist/trace/recorder.h"

namespace popdist::train {

/// Gives the time since the last call to one of several accounts, and to the trace of the run.
class Stopwatch {
 public:
  void addTo(double& seconds, std::string_view phase) {
    const auto now = std::chrono::steady_clock::now();
    trace::add(trace::Kind::kTraining, phase, last_, now);
    seconds += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  double total() const { return std::chrono::duration<double>(last_ - begin_).count(); }

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = begin_;
};

}  // namespace popdist::train
