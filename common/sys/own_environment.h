// SPDX-License-Identifier: Apache-2.0
// The variables of this process.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace pop::sys {

/// Names and values, in the order of the environment.
std::vector<std::pair<std::string, std::string>> ownEnvironment();

}  // namespace pop::sys
