// SPDX-License-Identifier: Apache-2.0
// A line at the bottom of a terminal that shows how many instances are starting, running and done. It is
// removed before anything else is written, and returns when output pauses.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/loop.h"

namespace pop {

class StatusLine {
 public:
  /// Jobs that end sooner show no status line.
  static constexpr std::chrono::milliseconds kFirstAfter{1000};
  static constexpr std::chrono::milliseconds kPause{200};

  struct Terminal {
    std::function<std::size_t()> columns;
    /// False: not now, because another line is unfinished or queued, or another program uses the terminal.
    std::function<bool(std::string_view text)> draw;
  };

  StatusLine(Loop& loop, int num_instances, Terminal terminal);
  ~StatusLine() { stop(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void beginAttempt();
  void started(int instance) { note(instance, State::kRunning); }
  void ended(int instance) { note(instance, State::kDone); }

  /// The text that removes the line, to be written before anything else; empty if it is not shown.
  std::string_view erase();

  /// Shows no more status lines.
  void stop();

 private:
  enum class State : std::uint8_t { kStarting, kRunning, kDone };

  void note(int instance, State state);
  void drawAfter(std::chrono::milliseconds delay);
  void draw();
  std::string text() const;

  Loop& loop_;
  const Terminal terminal_;
  std::vector<State> instances_;
  std::optional<TimerId> timer_;
  std::string drawn_;  ///< the text shown now
};

}  // namespace pop
