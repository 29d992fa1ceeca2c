// SPDX-License-Identifier: Apache-2.0
// A Loop with virtual time: nothing runs until the test says so, and hours pass in no time.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>

#include "common/base/loop.h"

namespace pop::testing {

class FakeLoop final : public Loop {
 public:
  void post(std::function<void()> task) override { posted_.push_back(std::move(task)); }

  TimerId postAfter(std::chrono::milliseconds delay, std::function<void()> task) override {
    const std::uint64_t id = ++last_timer_;
    timers_[{now_ + delay, id}] = std::move(task);
    return TimerId{id};
  }

  void cancel(TimerId timer) override {
    std::erase_if(timers_, [timer](const auto& each) { return TimerId{each.first.second} == timer; });
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
    while (!timers_.empty() && timers_.begin()->first.first <= end) {
      now_ = timers_.begin()->first.first;
      const std::function<void()> task = std::move(timers_.begin()->second);
      timers_.erase(timers_.begin());
      task();
      runPosted();
    }
    now_ = end;
  }

  std::size_t armedTimers() const { return timers_.size(); }

 private:
  Clock::time_point now_{std::chrono::hours(1)};
  std::deque<std::function<void()>> posted_;
  std::map<std::pair<Clock::time_point, std::uint64_t>, std::function<void()>> timers_;
  std::uint64_t last_timer_ = 0;
};

}  // namespace pop::testing
