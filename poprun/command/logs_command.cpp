// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/logs_command.h"

#include "poprun/command/detached_job.h"

namespace pop {
int logsCommand(const Options& options) {
  const Result<runner::JobEntry> job = findJob(*options.detached.logs);
  if (!job.ok()) return launcherFailed(job.status());
  return showJob(job.value(), options, {.follows = options.detached.follow, .exits_as_job = false});
}

}  // namespace pop
