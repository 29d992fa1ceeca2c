// SPDX-License-Identifier: Apache-2.0
// Lines for the log that any client can cause: some of each minute, and then how many more there were.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/base/loop.h"

namespace pop::wire {

class LimitedNotes {
 public:
  static constexpr int kMostInAMinute = 20;

  /// `loop` outlives it. `what`: "connections were turned away", for the line that counts the rest.
  LimitedNotes(Loop& loop, std::function<void(const std::string& line)> note, std::string what)
      : loop_(loop), note_(std::move(note)), what_(std::move(what)) {}
  ~LimitedNotes() {
    if (minute_) loop_.cancel(*minute_);
  }
  LimitedNotes(const LimitedNotes&) = delete;
  LimitedNotes& operator=(const LimitedNotes&) = delete;

  void add(const std::string& line);

 private:
  Loop& loop_;
  const std::function<void(const std::string& line)> note_;
  const std::string what_;
  std::optional<TimerId> minute_;  ///< begun by the first line
  int in_minute_ = 0;
};

}  // namespace pop::wire
