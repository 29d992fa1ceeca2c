// SPDX-License-Identifier: Apache-2.0
// Ends instances in steps: SIGTERM, a grace period, SIGKILL. Repeating a step changes nothing. The grace
// period is time in which the instances can run: it does not count while they are stopped.
#pragma once

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <utility>

#include "common/base/loop.h"

namespace pop::agent {

class KillLadder {
 public:
  /// `signal_all` sends its argument to every instance that is still running.
  KillLadder(Loop& loop, std::chrono::milliseconds grace, std::function<void(int)> signal_all)
      : loop_(loop), grace_(grace), signal_all_(std::move(signal_all)) {}
  ~KillLadder() { disarm(); }
  KillLadder(const KillLadder&) = delete;
  KillLadder& operator=(const KillLadder&) = delete;

  void terminate() {
    if (rung_ != Rung::kNone) return;
    rung_ = Rung::kTerminated;
    signal_all_(SIGTERM);
    signal_all_(SIGCONT);  // a stopped process handles SIGTERM only when it continues
    arm(grace_);
  }

  /// Call these when the instances are stopped (Ctrl-Z) or continued.
  void pause() {
    if (!timer_) return;
    left_ = std::chrono::ceil<std::chrono::milliseconds>(due_ - loop_.now());
    loop_.cancel(*std::exchange(timer_, std::nullopt));
  }
  void resume() {
    if (left_) arm(*std::exchange(left_, std::nullopt));
  }

  void kill() {
    disarm();
    if (rung_ == Rung::kKilled) return;
    rung_ = Rung::kKilled;
    signal_all_(SIGKILL);
  }

 private:
  enum class Rung { kNone, kTerminated, kKilled };

  void arm(std::chrono::milliseconds grace) {
    due_ = loop_.now() + grace;
    timer_ = loop_.postAfter(grace, [this] { kill(); });
  }

  void disarm() {
    if (timer_) loop_.cancel(*timer_);
    timer_.reset();
    left_.reset();
  }

  Loop& loop_;
  const std::chrono::milliseconds grace_;
  const std::function<void(int)> signal_all_;
  Rung rung_ = Rung::kNone;
  std::optional<TimerId> timer_;
  Clock::time_point due_;                          ///< of the timer
  std::optional<std::chrono::milliseconds> left_;  ///< of the grace, while it is paused
};

}  // namespace pop::agent
