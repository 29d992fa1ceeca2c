// SPDX-License-Identifier: Apache-2.0
// Shows the progress of copying to other hosts. On a terminal: a line for each host, redrawn when it changes.
// Elsewhere: a line when a host is done.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "common/model/copy_state.h"

namespace pop {

struct CopiedHost {
  std::string name;
  model::CopyState state = model::CopyState::kWaiting;
  int percent = 0;
};

class CopyLines {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPause{100};  ///< between two redraws

  /// `rows`, `columns`: size of the terminal; 0 rows: not a terminal.
  CopyLines(std::vector<std::string> hosts, int rows, int columns,
            std::function<void(const std::string&)> write);

  void change(int host, model::CopyState state, int percent, Clock::time_point now);

  /// Prints the final state of all hosts.
  void finish();

 private:
  void draw();
  std::vector<std::string> lines() const;

  std::vector<CopiedHost> hosts_;
  std::size_t rows_;
  std::size_t columns_;
  std::function<void(const std::string&)> write_;
  std::size_t drawn_lines_ = 0;
  int num_done_ = 0;
  bool stale_ = true;
  Clock::time_point last_drawn_{};
};

}  // namespace pop
