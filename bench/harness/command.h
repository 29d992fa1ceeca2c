// SPDX-License-Identifier: Apache-2.0
// Runs one command as a terminal would, measures its time, and ends it with all its descendants when it takes
// too long.
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
  // Called when output arrives, with the output kept so far and the started process.
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

/// Makes this process the subreaper of orphaned descendants, so that none can outlive a run. Once, before the
/// first run; run() also ends children of this process that it has not started.
Status adoptOrphans();

/// Runs `command` in its own process group, with stdin from /dev/null. After the time limit: SIGTERM, a
/// second of timeout, then SIGKILL. No descendant is left when this returns. Error: the command cannot be
/// started, or a process resists SIGKILL.
Result<RunResult> run(const Command& command);

/// The full path of `program`, as execvp finds it; empty if not found.
std::string findInPath(const std::string& program);

/// A command line of texts.
template <typename... Texts>
std::vector<std::string> wordsOf(const Texts&... texts) {
  return {std::string(texts)...};
}

/// Pointers to `texts` with a null at the end, for exec and its kind; they live as long as `texts`.
std::vector<char*> pointersTo(const std::vector<std::string>& texts);

}  // namespace pop::bench
