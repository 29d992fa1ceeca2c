// SPDX-License-Identifier: Apache-2.0
// poprun without a command name: plans a job, and shows, exports or runs it.
#pragma once

#include "poprun/cli/compat_table.h"
#include "poprun/command/command_line.h"

namespace pop {

/// Returns poprun's exit code. `hosts` may be null: then a job that needs other hosts is handed to a program
/// that has one.
int runCommand(CommandLine& line, cli::Spelling spelling, const HostsHalf* hosts);

}  // namespace pop
