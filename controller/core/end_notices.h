// SPDX-License-Identifier: Apache-2.0
// Sends end notices to the instances that still run: the first failure at once, later failures of an interval
// together in one message, because each notice goes to every host. Successful ends wait for a longer
// interval: usually all instances end together, and no notice is needed.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/loop.h"
#include "common/ports/agent_port.h"

namespace pop {

class EndNotices {
 public:
  EndNotices(Loop& loop, std::function<void(const SharedEndNotices&)> tell)
      : loop_(loop), tell_(std::move(tell)) {}
  ~EndNotices() { forget(); }
  EndNotices(const EndNotices&) = delete;
  EndNotices& operator=(const EndNotices&) = delete;

  void add(EndNotice end_notice) {
    failure_waits_ |= !end_notice.clean;
    waiting_.push_back(std::move(end_notice));
    if (has_told_) return;
    if (failure_waits_) return tell();
    if (!timer_) wait(kOfGoodEnds);
  }

  /// Drops notices that have not been sent.
  void forget() {
    if (timer_) loop_.cancel(*timer_);
    timer_.reset();
    has_told_ = false;
    failure_waits_ = false;
    waiting_.clear();
  }

 private:
  static constexpr std::chrono::milliseconds kOfFailures{20};
  static constexpr std::chrono::milliseconds kOfGoodEnds{80};

  void wait(std::chrono::milliseconds interval) {
    timer_ = loop_.postAfter(interval, [this] {
      timer_.reset();
      const bool had_told = std::exchange(has_told_, false);
      if (waiting_.empty()) return;
      had_told && !failure_waits_ ? wait(kOfGoodEnds) : tell();
    });
  }

  void tell() {
    if (timer_) loop_.cancel(*timer_);
    wait(kOfFailures);
    has_told_ = true;
    failure_waits_ = false;
    tell_(std::make_shared<const std::vector<EndNotice>>(std::exchange(waiting_, {})));
  }

  Loop& loop_;
  const std::function<void(const SharedEndNotices&)> tell_;
  std::vector<EndNotice> waiting_;
  std::optional<TimerId> timer_;  ///< none: nothing is queued, and nothing was sent in the last interval
  bool has_told_ = false;         ///< a notice was sent in the interval that ends with the timer
  bool failure_waits_ = false;
};

}  // namespace pop
