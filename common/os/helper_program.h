// SPDX-License-Identifier: Apache-2.0
// A helper program that runs: ssh, rsync, getent, an agent of our own.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace pop::os {

/// The process group or session that a program leads. A program with a session of its own has no terminal, so
/// it cannot stop there for an answer. One with a group of its own has it, but Ctrl-C reaches only this
/// process, which decides about it.
enum class Leads : std::uint8_t { kNothing, kGroup, kSession };

/// Fate of a program when we are killed. kDies: it is killed with the thread that has started it.
enum class AfterUs : std::uint8_t { kGoesOn, kDies };

/// Kills its process group and reaps it when it goes, unless wait() has seen its end. One that waits for a
/// device or a file server, and so does not go soon, is not waited for: a later program's end reaps it, too.
class HelperProgram {
 public:
  /// Starts `command`, looked up in PATH, from a process that may have threads. It has `stdio` as its
  /// descriptors 0, 1 and 2, default signals, and the limits that were there before setUpForJobs() raised
  /// them; our other descriptors stay ours. `cgroup`: the directory of the cgroup (v2) that it starts in,
  /// open; negative: our own.
  static Result<HelperProgram> start(const std::vector<std::string>& command, const std::array<int, 3>& stdio,
                                     Leads leads = Leads::kSession, AfterUs after_us = AfterUs::kGoesOn,
                                     int cgroup = -1);

  HelperProgram() = default;
  ~HelperProgram();
  HelperProgram(HelperProgram&& other) noexcept { *this = std::move(other); }
  HelperProgram& operator=(HelperProgram&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(end_, other.end_);
    return *this;
  }
  HelperProgram(const HelperProgram&) = delete;
  HelperProgram& operator=(const HelperProgram&) = delete;

  /// -1: there is none, or it has been reaped.
  pid_t pid() const { return pid_; }
  /// Readable from its end on. Not valid where the system gives none (a filter of system calls).
  const sys::Fd& end() const { return end_; }

  /// To its whole group.
  void signal(int signal) const;

  /// True when it has ended within `timeout`; it is still to be reaped.
  bool endsWithin(std::chrono::milliseconds timeout) const;

  /// Reaps it: its status word, once it has ended; nothing: it has not within `timeout`.
  std::optional<int> wait(std::chrono::milliseconds timeout);

  /// True if a child of this process is such a program, or was: others are orphans that it has adopted.
  static bool hasStarted(pid_t child);

  /// The caller who takes its number reaps it, with reap().
  pid_t release() { return std::exchange(pid_, -1); }
  /// True if it has ended; it is forgotten then.
  static bool reap(pid_t released);

 private:
  explicit HelperProgram(pid_t pid);

  pid_t pid_ = -1;
  sys::Fd end_;
};

}  // namespace pop::os
