// SPDX-License-Identifier: Apache-2.0
// Parses the options of popdist-agent's commands, with the same help and error messages for all of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace pop::agent {

/// Reads `arguments` into the variables that `app` binds. Returns an exit code if the program should end: 0
/// after printing the requested help, 1 for a mistake, which is reported on stderr.
std::optional<int> parseCommand(CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace pop::agent
