// SPDX-License-Identifier: Apache-2.0
// A line at the bottom of a terminal that says how many instances start, run and are done. It makes way for
// everything else that is written, and comes back when there is a pause.
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
  /// Jobs that are over sooner get none.
  static constexpr std::chrono::milliseconds kFirstAfter{1000};
  static constexpr std::chrono::milliseconds kPause{200};

  struct Terminal {
    std::function<std::size_t()> columns;
    /// False: not now, another line is unfinished or waits, or the terminal is somebody else's.
    std::function<bool(std::string_view text)> draw;
  };

  StatusLine(Loop& loop, int num_instances, Terminal terminal);
  ~StatusLine() { stop(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void beginAttempt();
  void started(int instance) { note(instance, State::kRunning); }
  void ended(int instance) { note(instance, State::kDone); }

  /// What takes the line away, to be written before anything else; empty when it is not there.
  std::string_view erase();

  /// No more lines.
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
  std::string drawn_;  ///< what is there now
};

}  // namespace pop
