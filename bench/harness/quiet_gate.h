// SPDX-License-Identifier: Apache-2.0
// Lets a measured run begin only when nothing else keeps the cores busy, or when waiting for that has lasted
// too long.
#pragma once

#include <chrono>

namespace pop::bench {

class QuietGate {
 public:
  static constexpr double kIdleFraction = 0.95;
  static constexpr std::chrono::milliseconds kSpan{100};

  /// Waits `timeout` at most; none at all: nothing is looked at and every run counts as not quiet.
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
