// SPDX-License-Identifier: Apache-2.0
// Who has ended, on its way to those who still run: the first at once, and when many end together, all of an
// interval in one message. Of many hosts each hears of everybody, so their number is what costs.
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
    waiting_.push_back(std::move(obituary));
    if (!timer_) tell();
  }

  /// What has not been told is of no interest any more.
  void forget() {
    if (timer_) loop_.cancel(*timer_);
    timer_.reset();
    waiting_.clear();
  }

 private:
  static constexpr std::chrono::milliseconds kInterval{20};

  void tell() {
    timer_ = loop_.postAfter(kInterval, [this] {
      timer_.reset();
      if (!waiting_.empty()) tell();
    });
    tell_(std::make_shared<const std::vector<Obituary>>(std::exchange(waiting_, {})));
  }

  Loop& loop_;
  const std::function<void(const SharedObituaries&)> tell_;
  std::vector<Obituary> waiting_;
  std::optional<TimerId> timer_;
};

}  // namespace pop
