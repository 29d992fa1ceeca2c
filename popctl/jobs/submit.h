// SPDX-License-Identifier: Apache-2.0
// Starts jobs. poprun's options make the job, for `popctl submit job` as for poprun --controller.
#pragma once

#include "common/model/job_spec.h"
#include "popctl/command.h"
#include "popctl/settings.h"
#include "poprun/plan/settings.h"

namespace pop::popctl {

/// Submits what poprun's options in `command.rest` say, and prints the job's number, or shows the job. After
/// a lost connection it submits it again, which its request id makes safe. Returns popctl's exit code.
int submitJob(Command command, const ServerSettings& settings);

/// The same of a job that poprun has made, with poprun's exit codes.
int submitForPoprun(const Options& options, const model::JobSpec& spec);

}  // namespace pop::popctl
