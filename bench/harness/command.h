// SPDX-License-Identifier: Apache-2.0
// Runs one command as a user's terminal would, takes its time, and ends it with all its descendants when it
// takes too long.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace pop::bench {

struct Command {
  std::vector<std::string> argv;  // argv[0] is a path
  std::chrono::milliseconds time_limit{10'000};
  std::size_t kept_output_bytes = 1 << 20;  // the rest is read and counted, but thrown away
  // Called as output comes, with what is kept of it so far and the process that was started.
  std::function<void(const std::string& output, pid_t pid)> watch;
};

enum class End : std::uint8_t { kExited, kSignalled, kTimedOut };

struct RunResult {
  End end = End::kExited;
  int code = 0;        // exit code, or number of the signal
  double wall_s = 0;   // from before the process exists to its being reaped, its output read
  double cpu_s = 0;    // user and system time of the process and of the descendants that were waited for
  std::string output;  // stdout and stderr, as they came through one pipe
  std::int64_t output_bytes = 0;

  bool succeeded() const { return end == End::kExited && code == 0; }
};

/// "exit code 1", "signal 9", "no end within its time limit"
std::string inWords(const RunResult& run);

/// Makes this process the one that orphaned descendants are handed to, so that none can outlive a run. Once,
/// before the first run; children of this process that run() has not started are ended by run() as well.
Status adoptOrphans();

/// Runs `command` in a process group of its own, stdin from /dev/null. After the time limit: SIGTERM, a
/// second of timeout, then SIGKILL. In any case no descendant is left when this returns. An error
/// only when the command cannot be started, or something resists SIGKILL.
Result<RunResult> run(const Command& command);

/// The whole of `program`'s path as execvp would find it; empty if there is none.
std::string findInPath(const std::string& program);

/// Pointers to `texts` with a null at the end, for exec and its kind; they live as long as `texts`.
std::vector<char*> pointersTo(const std::vector<std::string>& texts);

}  // namespace pop::bench
