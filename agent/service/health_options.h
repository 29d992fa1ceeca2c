// SPDX-License-Identifier: Apache-2.0
// popdist-agent health: does the agent service of a host take jobs? For monitoring.
#pragma once

#include <string>
#include <vector>

namespace pop::agent {

/// The exit code: 0 it does, 1 it does not, and stderr says why.
int runHealth(const std::vector<std::string>& arguments);

}  // namespace pop::agent
