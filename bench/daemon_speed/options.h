// SPDX-License-Identifier: Apache-2.0
// The command line of the benchmark of the daemon.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop::bench {

struct DaemonOptions {
  std::vector<std::string> measures{"submit", "partitions", "jobs", "launch", "watch", "logs", "idle"};
  int rounds = 5;
  int records = 10'000;  // of ended jobs
  std::string etcd;      // where popdistd has its store; empty: in a file
  bool peers = true;
  bool quick = false;  // does it work? few calls of each
  bool help = false;
  std::string programs;  // the directory of ours

  /// `count`, or so few that it takes no time.
  int calls(int count) const { return quick ? (count + 19) / 20 : count; }
};

/// Error: a mistake, for people.
Result<DaemonOptions> parseDaemonOptions(int argc, const char* const* argv);
std::string daemonHelp();

}  // namespace pop::bench
