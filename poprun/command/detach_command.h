// SPDX-License-Identifier: Apache-2.0
// `poprun --detach`, and a job that outlives a terminal that hangs up.
#pragma once

#include "common/model/job_spec.h"
#include "poprun/command/command_line.h"

namespace pop {

/// Starts the job's runner. With --detach prints the job's number on stdout and returns 0; else shows the
/// job, which Ctrl-C ends and a hangup leaves alone, and returns its exit code.
int detachCommand(const Options& options, const model::JobSpec& spec, const SessionSettings& settings,
                  const HostsHalf* hosts);

}  // namespace pop
