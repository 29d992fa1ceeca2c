// SPDX-License-Identifier: Apache-2.0
// Puts the daemon together: options, store, core, and what carries it.
#pragma once

#include <string>
#include <vector>

namespace pop::popdistd {

/// Serves until SIGTERM or SIGINT, and returns the exit code: 0; 1: it could not start, with the reason on
/// stderr; 2: a mistake in the options.
int runProgram(const std::vector<std::string>& arguments);

}  // namespace pop::popdistd
