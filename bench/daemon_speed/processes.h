// SPDX-License-Identifier: Apache-2.0
// The programs that the benchmark of the daemon starts: those that serve, and commands whose time is taken.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/harness/clock.h"
#include "common/base/status.h"
#include "common/os/helper_program.h"

namespace pop::bench {

/// A program that serves. It ends with the object, with grace.
class Served {
 public:
  /// Its output goes to the end of `log`.
  static Result<Served> start(const std::vector<std::string>& command, const std::string& log);

  Served() = default;
  ~Served();
  Served(Served&& other) noexcept = default;
  Served& operator=(Served&& other) noexcept = default;

  pid_t pid() const { return program_.pid(); }

 private:
  os::HelperProgram program_;
};

/// Runs a command without input to its end; what it prints is thrown away. Seconds from before its start
/// until it is reaped. Error: it fails, or has not ended after a minute.
Result<double> timeOf(const std::vector<std::string>& command);

/// Runs a command without input to its end. Seconds from before its start until its `lines`-th line of output
/// is here. Errors as above, and too few lines.
Result<double> timeToLine(const std::vector<std::string>& command, int lines);

/// User and system time of a process so far; 0: there is none.
double cpuSecondsOf(pid_t pid);
/// Resident memory, 1 MiB = 2^20 bytes; 0: there is none.
double residentMibOf(pid_t pid);

}  // namespace pop::bench
