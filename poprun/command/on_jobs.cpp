// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/on_jobs.h"

#include "poprun/command/attach_command.h"
#include "poprun/command/jobs_command.h"
#include "poprun/command/jobs_elsewhere.h"
#include "poprun/command/logs_command.h"

namespace pop {

int onJobs(const Options& options) {
  if (isElsewhere(options.detached)) return jobsElsewhere(options);
  if (options.detached.jobs) return jobsCommand(options);
  if (options.detached.attach) return attachCommand(options);
  if (options.detached.cancel) return cancelCommand(options);
  return logsCommand(options);
}

}  // namespace pop
