// SPDX-License-Identifier: Apache-2.0
// What the main program of a benchmark does besides measuring: its output, its surroundings.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/harness/json_line.h"

namespace pop::bench {

/// One line on stdout.
void record(const JsonLine& line);

/// What is being measured now, for people: on a terminal, one line that is written over; else nothing.
void showProgress(const std::string& what);

/// To be called before the first run: stdout goes out line by line, so that a benchmark that is interrupted
/// keeps what it has measured; what launchers leave in their children's environment is forgotten, for some
/// contestants would believe it; the machine is recorded and shown.
void beginSession();

/// True if the contestant can be measured; else the reason is shown. Both are recorded.
bool isUsable(const std::string& contestant, const std::string& why_not);

std::filesystem::path ownDirectory();

/// A directory for TMPDIR that goes with us: killed launchers leave their files there.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  /// Copies programs of ours from `built` there, as an installation would have: the page cache keeps a file
  /// in the pieces in which it was written, a linker's are small, and a start from those takes 0.2 ms longer.
  /// The peers are installed too. Returns where they are now.
  std::string install(const std::filesystem::path& built, const std::vector<std::string>& programs) const;

 private:
  std::filesystem::path path_;
};

}  // namespace pop::bench
