// SPDX-License-Identifier: Apache-2.0
// One process of a simulated cluster: a loop of its own on the cluster's clock, which can be frozen, stopped
// by its user, and killed.
#pragma once

#include <deque>
#include <functional>
#include <utility>

#include "tests/testing/fake_loop.h"

namespace pop::sim {

using std::chrono::milliseconds;

class SimProcess final : public Loop {
 public:
  explicit SimProcess(testing::FakeLoop& clock) : clock_(clock) {}

  void post(std::function<void()> task) override {
    clock_.post([this, task = std::move(task)] { run(task); });
  }
  TimerId postAfter(milliseconds delay, std::function<void()> task) override {
    const TimerId id = TimerId{++last_timer_};
    arm(id, delay, std::move(task));
    return id;
  }
  void cancel(TimerId timer) override {
    const auto found = timers_.find(timer);
    if (found == timers_.end()) return;
    clock_.cancel(found->second);
    timers_.erase(found);
  }
  Clock::time_point now() const override { return clock_.now(); }

  /// Runs `task` as an event of this process: at once, when it goes on, or never.
  void run(const std::function<void()>& task) {
    if (dead_) return;
    if (frozen_) return held_.push_back(task), void();
    const auto begin = Clock::now();
    task();
    busy_ += Clock::now() - begin;
  }

  /// Real time that its events have taken.
  std::chrono::nanoseconds busy() const { return busy_; }

  /// Its host is paused, and timers are due when it goes on.
  void freeze() { frozen_ = ever_frozen_ = true; }
  /// The same, but the process knows of it and extends its timers.
  void stop() {
    frozen_ = ever_frozen_ = true;
    stopped_at_ = now();
  }
  void resume() {
    if (!frozen_) return;
    frozen_ = false;
    if (stopped_at_ != Clock::time_point{}) {
      stopped_ += std::chrono::duration_cast<milliseconds>(now() - stopped_at_);
      stopped_at_ = {};
    }
    for (const std::function<void()>& task : std::exchange(held_, {})) run(task);
  }
  void kill() { dead_ = true; }
  bool dead() const { return dead_; }
  bool frozen() const { return frozen_; }
  bool everFrozen() const { return ever_frozen_; }

 private:
  void arm(TimerId id, milliseconds delay, std::function<void()> task) {
    const Clock::time_point due = now() + delay;
    timers_[id] = clock_.postAfter(delay, [this, id, due, stopped = stopped_, task = std::move(task)] {
      run([this, id, due, stopped, task] {
        if (!timers_.contains(id)) return;  // cancelled while it was held
        const auto left = std::chrono::duration_cast<milliseconds>(due + (stopped_ - stopped) - now());
        if (left.count() > 0) return arm(id, left, task);
        timers_.erase(id);
        task();
      });
    });
  }

  testing::FakeLoop& clock_;
  std::unordered_map<TimerId, TimerId> timers_;  ///< ours, and the clock's
  std::uint64_t last_timer_ = 0;
  std::chrono::nanoseconds busy_{0};
  bool dead_ = false;
  bool frozen_ = false;
  bool ever_frozen_ = false;
  Clock::time_point stopped_at_{};
  milliseconds stopped_{0};
  std::deque<std::function<void()>> held_;
};

}  // namespace pop::sim
