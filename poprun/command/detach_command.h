// SPDX-License-Identifier: Apache-2.0
// `poprun --detach`: a job that goes on without this poprun.
#pragma once

#include "common/model/job_spec.h"
#include "poprun/cli/parse.h"
#include "poprun/command/command_line.h"

namespace pop {

/// Starts the job's runner, prints the job's number on stdout and returns poprun's exit code; the job goes
/// on.
int detachCommand(const cli::ParsedOptions& parsed, const model::JobSpec& spec, const HostsHalf* hosts);

}  // namespace pop
