// SPDX-License-Identifier: Apache-2.0
// Puts failures that follow from each other into their order. An instance that was told of another's failure
// may end before that one has: then its failure waits for the other's, and all others with it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/loop.h"
#include "common/ports/job_report.h"

namespace pop {

class FirstFailure {
 public:
  FirstFailure(Loop& loop, std::function<void(Failure)> report) : loop_(loop), report_(std::move(report)) {}
  ~FirstFailure() { stopTimer(); }
  FirstFailure(const FirstFailure&) = delete;
  FirstFailure& operator=(const FirstFailure&) = delete;

  /// An instance has ended with a failure. `cause`: the instance that told it of one and still runs; -1:
  /// none.
  void add(Failure failure, int cause) {
    const bool is_awaited = !waiting_.empty() && failure.instance == cause_;
    waiting_.insert(is_awaited ? waiting_.begin() : waiting_.end(), std::move(failure));
    if (is_awaited || waiting_.size() == 1) cause_ = cause;
    if (cause_ < 0) return release();
    if (!timer_) timer_ = loop_.postAfter(kLongestUnwinding, [this] { release(); });
  }

  /// An instance has ended, after add() if by a failure.
  void ended(int instance) {
    if (instance == cause_) release();
  }

  /// Reports what waits: its cause has ended well, or will not end.
  void release() {
    stopTimer();
    cause_ = -1;
    for (Failure& each : std::exchange(waiting_, {})) report_(std::move(each));
  }

 private:
  /// From the exception that an instance has told others of to the end of its process. One that goes on
  /// instead has not failed.
  static constexpr std::chrono::milliseconds kLongestUnwinding{5000};

  void stopTimer() {
    if (timer_) loop_.cancel(*std::exchange(timer_, std::nullopt));
  }

  Loop& loop_;
  const std::function<void(Failure)> report_;
  std::vector<Failure> waiting_;
  int cause_ = -1;  ///< of what waits
  std::optional<TimerId> timer_;
};

}  // namespace pop
