// SPDX-License-Identifier: Apache-2.0
// --jobs, --logs, --attach and --cancel, up to the program that has the code for them.
#pragma once

#include "poprun/cli/parse.h"
#include "poprun/command/command_line.h"

namespace pop {

/// Returns poprun's exit code. `hosts` may be null: then a program that has one is started.
int jobCommand(const cli::ParsedOptions& parsed, const CommandLine& line, const HostsHalf* hosts);

}  // namespace pop
