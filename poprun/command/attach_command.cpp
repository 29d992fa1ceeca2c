// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/attach_command.h"

#include <cstdio>
#include <string>

#include "poprun/command/detached_job.h"

namespace pop {

int attachCommand(const Options& options) {
  const Result<runner::JobEntry> job = findJob(*options.detached.attach);
  if (!job.ok()) return launcherFailed(job.status());
  return showJob(job.value(), options, {.controls = options.detached.control});
}

int cancelCommand(const Options& options) {
  const Result<runner::JobEntry> job = findJob(*options.detached.cancel);
  if (!job.ok()) return launcherFailed(job.status());
  if (const Status cancelled = cancelJob(job.value()); !cancelled.ok()) return launcherFailed(cancelled);
  std::fprintf(stderr, "poprun: job %d is being stopped (--cancel %d again kills it)\n", job.value().id,
               job.value().id);
  return 0;
}

}  // namespace pop
