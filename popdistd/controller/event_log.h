// SPDX-License-Identifier: Apache-2.0
// Everything that happened to a job, in the order in which the controller learnt of it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/loop.h"

namespace pop {

struct LogEntry {
  Clock::time_point at;
  int instance = -1;  ///< -1: the whole job
  std::string text;
  bool warning = false;  ///< people should read it even when all goes well
};

class EventLog {
 public:
  using Listener = std::function<void(const LogEntry&)>;

  /// `listener` sees each entry as it is made.
  EventLog(const Loop& loop, Listener listener) : loop_(loop), listener_(std::move(listener)) {}

  void append(int instance, std::string text) { add({loop_.now(), instance, std::move(text)}); }
  void warn(std::string text) { add({loop_.now(), -1, std::move(text), true}); }
  const std::vector<LogEntry>& entries() const { return entries_; }

 private:
  void add(LogEntry entry) {
    entries_.push_back(std::move(entry));
    if (listener_) listener_(entries_.back());
  }

  const Loop& loop_;
  Listener listener_;
  std::vector<LogEntry> entries_;
};

}  // namespace pop
