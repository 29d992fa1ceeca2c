// SPDX-License-Identifier: Apache-2.0
// poprun from end to end: parse → plan → (print | run) → exit code.
#pragma once

#include "common/model/job_spec.h"
#include "poprun/plan/options.h"
#include "poprun/session/job_session.h"

namespace pop {

/// Runs a job that has other hosts than this one; poprun's exit code.
using HostsRunner = int (*)(const Options& options, const model::JobSpec& spec,
                            const SessionSettings& settings);

/// poprun's exit code. The first argument is what it was called by: under mpirun's and horovodrun's names it
/// takes their spelling. Without a `run_on_hosts`, jobs that need one are handed over to poprun-hosts, which
/// is this program with one: jobs on this host need not load it.
int runApp(int argc, char** argv, HostsRunner run_on_hosts);

}  // namespace pop
