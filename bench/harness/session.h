// SPDX-License-Identifier: Apache-2.0
// The parts of a benchmark's main program around the measurement: its output and its environment.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/harness/json_line.h"

namespace pop::bench {

/// One line on stdout.
void record(const JsonLine& line);

/// Shows people what is being measured: on a terminal, in one line that is overwritten; elsewhere nothing.
void showProgress(const std::string& what);

/// Call it before the first run. Makes stdout line-buffered, so that an interrupted benchmark keeps its
/// figures; clears launchers' variables from the environment, which some contestants would trust; records and
/// shows the machine.
void beginSession();

/// True if the contestant can be measured; else the reason is shown. Both are recorded.
bool isUsable(const std::string& contestant, const std::string& why_not);

std::filesystem::path ownDirectory();

/// A temporary directory for TMPDIR, removed at the end: killed launchers leave their files there.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  /// Copies our programs from `built` there, as an installation does. The page cache keeps a file in the
  /// pieces in which it was written; a linker writes small ones, which make a start 0.2 ms slower, and the
  /// peers are installed, too. Returns the programs' new directory.
  std::string install(const std::filesystem::path& built, const std::vector<std::string>& programs) const;

 private:
  std::filesystem::path path_;
};

}  // namespace pop::bench
