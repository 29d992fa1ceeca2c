// SPDX-License-Identifier: Apache-2.0
// Records a remote command's stderr and how it ended, for the error message if it ends too early.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>

namespace pop {

class CommandLog {
 public:
  void said(const std::string& line);
  void ended(int exit_code);

  /// Waits for the command's end and returns its last lines and exit code; after the time limit, what is
  /// known so far.
  std::string whyEnded(std::chrono::milliseconds timeout);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  bool ended_ = false;
  int exit_code_ = -1;
};

}  // namespace pop
