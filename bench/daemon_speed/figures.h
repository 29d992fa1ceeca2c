// SPDX-License-Identifier: Apache-2.0
// Results of the daemon's benchmark.
#pragma once

#include <string>
#include <vector>

#include "bench/harness/goal.h"
#include "bench/harness/statistics.h"

namespace pop::bench {

inline constexpr const char* kPopdistd = "popdistd";
inline constexpr const char* kSlurm = "slurm";

/// One figure of one contestant.
struct DaemonFigure {
  std::string measure;  // "submit"
  std::string contestant;
  std::string what;  // "50 clients"
  std::string unit;
  Summary values;  // of rounds, or of single calls
};

struct DaemonFigures {
  std::vector<DaemonFigure> figures;
  std::vector<Goal> goals;
};

}  // namespace pop::bench
