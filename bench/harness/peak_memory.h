// SPDX-License-Identifier: Apache-2.0
// The exact peak memory of every process that a command starts: each is stopped at its end (ptrace) and its
// VmHWM is read. ru_maxrss is no substitute: exec inherits it from the parent, and it is only the largest of
// a tree. Times of such a run are meaningless.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/command.h"

namespace pop::bench {

struct ProcessPeak {
  std::string executable;  // path
  std::string name;        // as `ps` shows it
  std::int64_t peak_kib = 0;
};

/// The peak memory so far of a running process. Nothing if it is gone.
std::optional<ProcessPeak> peakMemoryOf(pid_t pid);

/// Returns the processes in the order of their ends. Fails where ptrace is forbidden. A command that exceeds
/// its time limit is ended: kDeadlineExceeded.
Result<std::vector<ProcessPeak>> tracePeakMemory(const Command& command);

}  // namespace pop::bench
