// SPDX-License-Identifier: Apache-2.0
// Duration of the attempts at a lost connection. A value; its user waits between the attempts.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

namespace pop::popctl {

/// Between two attempts.
inline constexpr std::chrono::milliseconds kUntilNextAttempt{200};

class Reconnects {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit Reconnects(std::chrono::milliseconds window) : window_(window) {}

  void began(Time now) { began_ = now; }           ///< an attempt
  void received() { lost_since_ = std::nullopt; }  ///< something has come: there is a connection

  /// The attempt has failed: whether to try again. A connection that has lasted was one, even if nothing
  /// came; `connects`: there was none, which may last, too.
  bool goesOn(Time now, bool connects) {
    if ((now - began_ >= kLasted && !connects) || !lost_since_) lost_since_ = now;
    return now - *lost_since_ < window_;
  }

  /// True at the first loss only.
  bool isNews() { return !std::exchange(said_, true); }

 private:
  static constexpr std::chrono::seconds kLasted{2};

  const std::chrono::milliseconds window_;
  Time began_{};
  std::optional<Time> lost_since_;
  bool said_ = false;
};

}  // namespace pop::popctl
