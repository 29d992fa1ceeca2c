// SPDX-License-Identifier: Apache-2.0
// The measurements of bench_daemon and its options. Each measurement has clusters of its own. Errors: a
// cluster does not start, or a call fails. The formulas are in docs/dev/benchmarks/daemon.md.
#pragma once

#include <string>
#include <vector>

#include "bench/harness/options.h"
#include "bench/harness/results.h"

namespace pop::bench {

inline constexpr const char* kPopdistd = "popdistd";
inline constexpr const char* kSlurm = "slurm";

struct DaemonOptions : RunOptions {
  std::vector<std::string> measures{"submit", "partitions", "jobs", "launch", "watch", "logs", "idle"};
  int rounds = 5;
  int records = 10'000;  // of ended jobs
  std::string etcd;      // where popdistd has its store; empty: in a file
  bool no_peers = false;
  std::string programs;  // the directory of ours

  /// `count`, or so few that it takes no time.
  int calls(int count) const { return quick ? (count + 19) / 20 : count; }
};

/// kInvalidArgument says what is wrong with the command line.
Result<DaemonOptions> parseDaemonOptions(int argc, const char* const* argv);

using DaemonFigures = Result<std::vector<Figure>>;

/// Durable submits of held jobs: 50 clients, one client, popctl; sbatch.
DaemonFigures measureSubmit(const DaemonOptions& options);
/// Partitions made and removed through V-IPU's API by 50 clients.
DaemonFigures measurePartitions(const DaemonOptions& options);
/// Whole jobs that do nothing, with few and with many records in the store; sbatch.
DaemonFigures measureJobs(const DaemonOptions& options);
/// From submit to the first line of the last of 32 instances; srun.
DaemonFigures measureLaunch(const DaemonOptions& options);
/// From a change until 200 watchers have seen it.
DaemonFigures measureWatch(const DaemonOptions& options);
/// Replay of a long log.
DaemonFigures measureLogs(const DaemonOptions& options);
/// The daemon's consumption while nothing happens.
DaemonFigures measureIdle(const DaemonOptions& options);

}  // namespace pop::bench
