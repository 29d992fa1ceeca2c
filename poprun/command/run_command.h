// SPDX-License-Identifier: Apache-2.0
// poprun without a command's name: plans a job, and shows, exports or runs it.
#pragma once

#include "poprun/cli/compat_table.h"
#include "poprun/command/command_line.h"

namespace pop {

/// poprun's exit code. `hosts` may be null: for a job that needs other hosts a program that has one is
/// started.
int runCommand(CommandLine& line, cli::Spelling spelling, const HostsHalf* hosts);

}  // namespace pop
