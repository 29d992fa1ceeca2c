// SPDX-License-Identifier: Apache-2.0
// popdist-agent: dispatches its command line.
#pragma once

#include <string>
#include <vector>

namespace pop::agent {

/// Returns the process's exit code. Call it while the process has only one thread.
int runApp(const std::vector<std::string>& arguments);

}  // namespace pop::agent
