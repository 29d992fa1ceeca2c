// SPDX-License-Identifier: Apache-2.0
// Delays a measured run until the cores are otherwise idle, or a timeout is over.
#pragma once

#include <chrono>

namespace pop::bench {

class QuietGate {
 public:
  static constexpr double kIdleFraction = 0.95;
  static constexpr std::chrono::milliseconds kSpan{100};

  /// Waits `timeout` at most. Zero: measures nothing, and every run counts as not quiet.
  explicit QuietGate(std::chrono::milliseconds timeout) : timeout_(timeout) {}

  struct Passed {
    bool quiet = false;
    double idle_fraction = 0;  // over the last span before the gate opened
  };
  Passed wait() const;

 private:
  std::chrono::milliseconds timeout_;
};

}  // namespace pop::bench
