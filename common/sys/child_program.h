// SPDX-License-Identifier: Apache-2.0
// A helper program that runs: its stdout and stderr on pipes of ours, no input, default signals, a session of
// its own, so that it cannot wait for an answer at our terminal; none of our descriptors.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace pop::sys {

/// Kills its process group and reaps it when it goes, unless wait() has seen its end. One that waits for a
/// device or a file server, and so does not go soon, is not waited for: a later program's end reaps it, too.
class ChildProgram {
 public:
  static Result<ChildProgram> start(const std::vector<std::string>& command);

  ~ChildProgram();
  ChildProgram(ChildProgram&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), out_(std::move(other.out_)), err_(std::move(other.err_)) {}
  ChildProgram(const ChildProgram&) = delete;
  ChildProgram& operator=(const ChildProgram&) = delete;

  /// Closed at the stream's end.
  Fd& out() { return out_; }
  Fd& err() { return err_; }

  /// The whole group.
  void kill() const;

  /// Its status word, once it has ended; nothing: it has not within `timeout`. Until it has.
  std::optional<int> wait(std::chrono::milliseconds timeout);

 private:
  ChildProgram(pid_t pid, Fd out, Fd err) : pid_(pid), out_(std::move(out)), err_(std::move(err)) {}

  pid_t pid_;
  Fd out_;
  Fd err_;
};

/// Reads once, appends what came to `text`; the end of the stream closes it.
void readSome(Fd& stream, std::string& text);

/// "was killed by signal 9", "ended with exit code 3: its last words".
std::string howItEnded(int wait_status, std::string last_words);

}  // namespace pop::sys
