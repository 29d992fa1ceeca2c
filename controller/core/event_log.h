// SPDX-License-Identifier: Apache-2.0
// Passes every event of a job to a listener, in the order in which the controller learns of it. Keeps
// nothing.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "common/base/loop.h"
#include "common/ports/job_report.h"

namespace pop {

class EventLog {
 public:
  /// Times are measured from construction. `listener` may be empty.
  EventLog(const Loop& loop, std::function<void(const LogEntry&)> listener)
      : loop_(loop), begin_(loop.now()), listener_(std::move(listener)) {}

  void append(int instance, std::string text, EventKind kind = EventKind::kNote) const {
    if (listener_) listener_({elapsed(), instance, std::move(text), kind});
  }
  std::chrono::milliseconds elapsed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(loop_.now() - begin_);
  }

 private:
  const Loop& loop_;
  const Clock::time_point begin_;
  const std::function<void(const LogEntry&)> listener_;
};

}  // namespace pop
