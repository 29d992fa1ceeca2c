// SPDX-License-Identifier: Apache-2.0
// The contestants: poprun, the floors under it, and the installed peers; one row for each.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop::bench {

inline const std::string kPoprun = "poprun";
inline const std::string kFloor = "floor";
inline const std::string kFloorOfTwoThreads = "floor2";
inline const std::string kHydra = "hydra";
inline const std::string kOpenMpi = "openmpi";

struct Contestant {
  std::string name;
  bool is_peer = false;
  std::string program;                       // path; empty: not installed
  std::vector<std::string> options;          // before the number of processes
  std::vector<std::string> after_processes;  // between that number and the program to run

  std::vector<std::string> commandLine(int processes, const std::string& job_program) const;
};

std::vector<std::string> contestantNames();

/// The contestants named in `only` (empty: all), including those that are not installed. Our own programs are
/// looked for in `own_directory`.
std::vector<Contestant> chooseContestants(const std::vector<std::string>& only,
                                          const std::string& own_directory);

}  // namespace pop::bench
