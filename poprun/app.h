// SPDX-License-Identifier: Apache-2.0
// poprun from end to end: arguments to exit code. What each command does: poprun/command.
#pragma once

#include "poprun/command/command_line.h"

namespace pop {

/// poprun's exit code. The first argument is what it was called by: under mpirun's and horovodrun's names it
/// takes their spelling. What needs a `hosts` that is not here is handed over to poprun-hosts, or for the
/// agent service to poprun-service, which are this program with one: other jobs need not load it.
int runApp(int argc, char** argv, const HostsHalf* hosts);

}  // namespace pop
