// SPDX-License-Identifier: Apache-2.0
// Jobs that outlive their terminal: starts a job's runner, and shows or ends a job that has one.
#pragma once

#include <string>

#include "common/base/status.h"
#include "common/model/job_spec.h"
#include "poprun/command/command_line.h"
#include "runner/store/job_directory.h"
#include "runner/store/record_store.h"

namespace pop {

struct DetachSettings {
  std::string name;  ///< of the job; may be empty
  runner::LogBound bound;
};

/// Starts the runner of a job, a process that outlives this one, and returns when clients can connect to it.
/// Its instances get no input. `hosts`: as for runCommand, null for a job on this host. Call it while the
/// process has a single thread.
Result<runner::JobEntry> startDetached(const Options& options, const model::JobSpec& spec,
                                       const SessionSettings& settings, const HostsHalf* hosts,
                                       const DetachSettings& detach);

/// A job of this host. kNotFound says what was looked for.
Result<runner::JobEntry> findJob(const JobAddress& address);

/// Display of a job that has a runner.
struct AttachSettings {
  bool controls = false;     ///< Ctrl-C and Ctrl-Z reach the job; else Ctrl-C ends the showing
  bool follows = true;       ///< until the job ends; else what there is so far
  bool exits_as_job = true;  ///< else with 0, also when the job has failed or is lost
};

/// Shows the job as if it had been started here, from its beginning, and returns poprun's exit code: the
/// job's when it has ended, 0 when the showing has.
int showJob(const runner::JobEntry& job, const Options& options, AttachSettings attach);

/// Stops the job with grace, and kills it if it is being stopped already.
Status cancelJob(const runner::JobEntry& job);

}  // namespace pop
