// SPDX-License-Identifier: Apache-2.0
// Who has ended, on its way to those who still run: the first failure at once, and when many end together,
// all of an interval in one message. Of many hosts each hears of everybody, so their number is what costs.
// Who ends well mostly ends with all others: by the end of the interval there may be nobody left to hear of
// it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/loop.h"
#include "popdistd/controller/ports.h"

namespace pop {

class Obituaries {
 public:
  Obituaries(Loop& loop, std::function<void(const SharedObituaries&)> tell)
      : loop_(loop), tell_(std::move(tell)) {}
  ~Obituaries() { forget(); }
  Obituaries(const Obituaries&) = delete;
  Obituaries& operator=(const Obituaries&) = delete;

  void add(Obituary obituary) {
    const bool clean = obituary.clean;
    waiting_.push_back(std::move(obituary));
    if (has_told_) return;
    if (!clean) return tell();
    if (!timer_) wait();
  }

  /// What has not been told is of no interest any more.
  void forget() {
    if (timer_) loop_.cancel(*timer_);
    timer_.reset();
    has_told_ = false;
    waiting_.clear();
  }

 private:
  static constexpr std::chrono::milliseconds kInterval{20};

  void wait() {
    timer_ = loop_.postAfter(kInterval, [this] {
      timer_.reset();
      has_told_ = false;
      if (!waiting_.empty()) tell();
    });
  }

  void tell() {
    if (timer_) loop_.cancel(*timer_);
    wait();
    has_told_ = true;
    tell_(std::make_shared<const std::vector<Obituary>>(std::exchange(waiting_, {})));
  }

  Loop& loop_;
  const std::function<void(const SharedObituaries&)> tell_;
  std::vector<Obituary> waiting_;
  std::optional<TimerId> timer_;  ///< none: nothing waits, and nothing was told within an interval
  bool has_told_ = false;         ///< within the interval that ends with the timer
};

}  // namespace pop
