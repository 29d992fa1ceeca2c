// SPDX-License-Identifier: Apache-2.0
// poprun from end to end: arguments to exit code. What each command does: poprun/command.
#pragma once

#include "poprun/command/command_line.h"

namespace pop {

/// Returns poprun's exit code. The first argument is the name by which poprun was called: under mpirun's and
/// horovodrun's names it takes their spelling. Jobs that need a `hosts` which is not given are handed over to
/// poprun-hosts, or with the agent service to poprun-service: the same program with `hosts`. So other jobs
/// need not load that code.
int runApp(int argc, char** argv, const HostsHalf* hosts);

}  // namespace pop
