// SPDX-License-Identifier: Apache-2.0
// The peak memory of every process that a command starts, exactly: each is stopped at its own end (ptrace)
// and its VmHWM is read there. ru_maxrss would not do: exec hands it down from the parent, and it is only the
// largest of a tree. No time can be taken of such a run.
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

/// Of a process that is still there, until now. Nothing when it is gone.
std::optional<ProcessPeak> peakMemoryOf(pid_t pid);

/// In the order of their ends. Not possible where ptrace is forbidden. A command that outlasts its time limit
/// is ended and gives kDeadlineExceeded.
Result<std::vector<ProcessPeak>> tracePeakMemory(const Command& command);

}  // namespace pop::bench
