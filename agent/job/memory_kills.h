// SPDX-License-Identifier: Apache-2.0
// Tells if the kernel ended an instance for lack of memory: a SIGKILL like any other, but that the kernel's
// log names the process, where it may be read, and the cgroup counts it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pop::agent {

class MemoryKills {
 public:
  /// Reads the counters of this process's cgroup, and of those above it. `root` stands for "/", so that tests
  /// can provide their own files.
  explicit MemoryKills(std::string root = {});

  /// "out of memory (cgroup /job, limit 64 MiB, peak 64 MiB)"; empty: nothing says so. For a process that has
  /// been killed, or that says that its child was. `pid`: as in the kernel's log.
  std::string why(pid_t pid);

 private:
  /// A cgroup, and how often its limit was reached.
  struct Level {
    std::string path;  ///< "/job", and its files are in directory
    std::string directory;
    std::uint64_t failures = 0;
  };

  void findLevels(const std::string& mount, std::string path);
  std::uint64_t failuresOf(const Level& level) const;
  std::uint64_t killsCounted() const;
  std::string whyByLog(pid_t pid) const;
  std::string describe(const std::string& path, const std::string& directory) const;

  std::string root_;
  std::string mount_;
  bool is_v2_ = false;
  std::vector<Level> levels_;  ///< the own one first
  std::uint64_t kills_ = 0;    ///< before, and since then said of somebody
  std::int64_t begun_us_ = 0;
};

}  // namespace pop::agent
