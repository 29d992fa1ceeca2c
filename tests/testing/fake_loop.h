// SPDX-License-Identifier: Apache-2.0
// A Loop with virtual time: nothing runs until the test says so, and hours pass in no time.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "common/base/loop.h"

namespace pop::testing {

class FakeLoop final : public Loop {
 public:
  void post(std::function<void()> task) override { posted_.push_back(std::move(task)); }

  TimerId postAfter(std::chrono::milliseconds delay, std::function<void()> task) override {
    const std::uint64_t id = ++last_timer_;
    timers_[{now_ + delay, id}] = std::move(task);
    due_[id] = now_ + delay;
    return TimerId{id};
  }

  void cancel(TimerId timer) override {
    const auto found = due_.find(static_cast<std::uint64_t>(timer));
    if (found == due_.end()) return;
    timers_.erase({found->second, found->first});
    due_.erase(found);
  }

  Clock::time_point now() const override { return now_; }

  /// Runs everything posted, and what that posts in turn. Time stands still.
  void runPosted() {
    while (!posted_.empty()) {
      const std::function<void()> task = std::move(posted_.front());
      posted_.pop_front();
      task();
    }
  }

  /// Lets `duration` pass: timers fire when they are due, in order.
  void advance(std::chrono::milliseconds duration) {
    const Clock::time_point end = now_ + duration;
    runPosted();
    fireUntil(end, [this](Clock::time_point due) { now_ = due; });
    now_ = end;
  }

  /// The process was stopped for so long: the clock went on, timers are due so much later.
  void stopFor(std::chrono::milliseconds duration) {
    now_ += duration;
    for (auto& [timer, due] : due_) due += duration;
    for (auto& [when, task] : std::exchange(timers_, {}))
      timers_[{when.first + duration, when.second}] = std::move(task);
  }

  /// The machine stood still for so long: all timers that are due by now fire at the same late moment.
  void standStillFor(std::chrono::milliseconds duration) {
    now_ += duration;
    runPosted();
    fireUntil(now_, [](Clock::time_point) {});
  }

  std::size_t armedTimers() const { return timers_.size(); }

 private:
  void fireUntil(Clock::time_point end, const std::function<void(Clock::time_point)>& before) {
    while (!timers_.empty() && timers_.begin()->first.first <= end) {
      before(timers_.begin()->first.first);
      const std::function<void()> task = std::move(timers_.begin()->second);
      due_.erase(timers_.begin()->first.second);
      timers_.erase(timers_.begin());
      task();
      runPosted();
    }
  }

  Clock::time_point now_{std::chrono::hours(1)};
  std::deque<std::function<void()>> posted_;
  std::map<std::pair<Clock::time_point, std::uint64_t>, std::function<void()>> timers_;
  std::unordered_map<std::uint64_t, Clock::time_point> due_;  ///< by timer
  std::uint64_t last_timer_ = 0;
};

}  // namespace pop::testing
