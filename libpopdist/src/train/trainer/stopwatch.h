// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace popdist::train {

/// Gives the time since the last call to one of several accounts.
class Stopwatch {
 public:
  void addTo(double& seconds) {
    const auto now = std::chrono::steady_clock::now();
    seconds += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  double total() const { return std::chrono::duration<double>(last_ - begin_).count(); }

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = begin_;
};

}  // namespace popdist::train
