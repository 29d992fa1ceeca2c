// SPDX-License-Identifier: Apache-2.0
// popdist-agent: what its command line asks for.
#pragma once

#include <string>
#include <vector>

namespace pop::agent {

/// The process's exit code. Call it while the process has one thread.
int runApp(const std::vector<std::string>& arguments);

}  // namespace pop::agent
