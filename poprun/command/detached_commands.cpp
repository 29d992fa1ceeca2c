// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/detached_commands.h"

#include <cstdio>

#include "poprun/command/detached_job.h"
#include "poprun/command/jobs_command.h"
#include "poprun/command/jobs_elsewhere.h"

namespace pop {
namespace {

int cancel(const runner::JobEntry& job) {
  if (const Status cancelled = cancelJob(job); !cancelled.ok()) return launcherFailed(cancelled);
  std::fprintf(stderr, "poprun: job %d is being stopped (--cancel %d again kills it)\n", job.id, job.id);
  return 0;
}

}  // namespace

int detachedCommand(const Options& options) {
  const DetachedOptions& detached = options.detached;
  if (isElsewhere(detached)) return jobsElsewhere(options);
  if (detached.jobs) return jobsCommand(options);
  const Result<runner::JobEntry> job = findJob(detached.attach   ? *detached.attach
                                               : detached.cancel ? *detached.cancel
                                                                 : *detached.logs);
  if (!job.ok()) return launcherFailed(job.status());
  if (detached.attach) return showJob(job.value(), options, {.controls = detached.control});
  if (detached.cancel) return cancel(job.value());
  return showJob(job.value(), options, {.follows = detached.follow, .exits_as_job = false});
}

}  // namespace pop
