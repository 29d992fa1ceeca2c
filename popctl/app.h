// SPDX-License-Identifier: Apache-2.0
// popctl from end to end: arguments to exit code.
#pragma once

#include <string>
#include <vector>

namespace pop::popctl {

int runApp(std::vector<std::string> arguments);

}  // namespace pop::popctl
