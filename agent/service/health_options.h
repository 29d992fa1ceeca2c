// SPDX-License-Identifier: Apache-2.0
// popdist-agent health: checks whether a host's agent service accepts jobs. For monitoring.
#pragma once

#include <string>
#include <vector>

namespace pop::agent {

/// Returns the exit code: 0 if it does, 1 if it does not, with the reason on stderr.
int runHealth(const std::vector<std::string>& arguments);

}  // namespace pop::agent
