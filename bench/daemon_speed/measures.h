// SPDX-License-Identifier: Apache-2.0
// The measurements, each with clusters of its own. Errors: a cluster does not start, or a call fails. The
// formulas are in docs/dev/benchmarks/daemon.md.
#pragma once

#include "bench/daemon_speed/figures.h"
#include "bench/daemon_speed/options.h"
#include "common/base/status.h"

namespace pop::bench {

/// Durable submits of held jobs: 50 clients, one client, popctl; sbatch.
Status measureSubmit(const DaemonOptions& options, DaemonFigures& all);
/// Partitions made and removed through V-IPU's API by 50 clients.
Status measurePartitions(const DaemonOptions& options, DaemonFigures& all);
/// Whole jobs that do nothing, with few and with many records in the store; sbatch.
Status measureJobs(const DaemonOptions& options, DaemonFigures& all);
/// From submit to the first line of the last of 32 instances; srun.
Status measureLaunch(const DaemonOptions& options, DaemonFigures& all);
/// From a change until 200 watchers have seen it.
Status measureWatch(const DaemonOptions& options, DaemonFigures& all);
/// Replay of a long log.
Status measureLogs(const DaemonOptions& options, DaemonFigures& all);
/// The daemon's consumption while nothing happens.
Status measureIdle(const DaemonOptions& options, DaemonFigures& all);

}  // namespace pop::bench
