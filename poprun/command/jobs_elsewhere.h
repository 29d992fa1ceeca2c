// SPDX-License-Identifier: Apache-2.0
// A command on detached jobs of another host: the poprun there carries it out, at this terminal.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"
#include "poprun/plan/settings.h"

namespace pop {

/// True if the job, or the list of jobs, is on another host.
bool isElsewhere(const DetachedOptions& options);

/// The command line of ssh, or of --rsh. kInvalidArgument: the host's name is no name.
Result<std::vector<std::string>> elsewhereCommand(const Options& options, bool has_terminal);

/// Runs it, and returns its exit code.
int jobsElsewhere(const Options& options);

}  // namespace pop
