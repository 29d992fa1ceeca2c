// SPDX-License-Identifier: Apache-2.0
// What a host's command has said on stderr and how it ended, for the message when it ends too early.
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

  /// The last lines and the exit code, when the command has ended; what there is if that takes too long.
  std::string whyEnded(std::chrono::milliseconds timeout);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  bool ended_ = false;
  int exit_code_ = -1;
};

}  // namespace pop
