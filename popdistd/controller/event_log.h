// SPDX-License-Identifier: Apache-2.0
// Everything that happened to a job, in the order in which the controller learnt of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/loop.h"

namespace pop {

/// What an entry means to a program that reads it.
enum class EventKind : std::uint8_t {
  kNote,
  kWarning,      ///< people should read it even when all goes well
  kJobStarting,  ///< all instances are about to start, for the first time or again
  kInstanceStarted,
  kInstanceEnded,
  kInstanceClosed,  ///< all that it has written has been delivered
};

struct LogEntry {
  Clock::time_point at;
  int instance = -1;  ///< -1: the whole job
  std::string text;
  EventKind kind = EventKind::kNote;
};

class EventLog {
 public:
  using Listener = std::function<void(const LogEntry&)>;

  /// `listener` sees each entry as it is made.
  EventLog(const Loop& loop, Listener listener) : loop_(loop), listener_(std::move(listener)) {}

  void append(int instance, std::string text, EventKind kind = EventKind::kNote) {
    entries_.push_back({loop_.now(), instance, std::move(text), kind});
    if (listener_) listener_(entries_.back());
  }
  Clock::time_point now() const { return loop_.now(); }
  const std::vector<LogEntry>& entries() const { return entries_; }

 private:
  const Loop& loop_;
  Listener listener_;
  std::vector<LogEntry> entries_;
};

}  // namespace pop
