// SPDX-License-Identifier: Apache-2.0
// A job program's last output on stderr before its end: mostly the reason.
#pragma once

#include <string>

#include "agent/service/job_process.h"
#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"

namespace pop::agent {

/// Lives on the loop's thread.
class LastWords {
 public:
  /// `errors`: the process's stderr, non-blocking.
  LastWords(os::EpollLoop& loop, sys::Fd errors);
  ~LastWords() { loop_.unwatch(errors_.get()); }
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;

  /// The end of what it has said so far, on one line; without control characters.
  std::string text();

  /// Drops the output so far: it is not the reason for the end.
  void forget();

 private:
  bool read();
  void readAll();

  os::EpollLoop& loop_;
  const sys::Fd errors_;
  std::string words_;
};

/// Kills the process if it is alive: "ended with exit code 3 (it said: the disk is full)".
std::string describeEnd(JobProcess& process, LastWords& words);

}  // namespace pop::agent
