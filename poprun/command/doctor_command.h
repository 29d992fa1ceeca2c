// SPDX-License-Identifier: Apache-2.0
// `poprun doctor`, up to the examination of the hosts.
#pragma once

#include "poprun/command/command_line.h"

namespace pop {

/// Returns poprun's exit code. `hosts` may be null: then a program that has one is started.
int doctorCommand(CommandLine& line, const HostsHalf* hosts);

}  // namespace pop
