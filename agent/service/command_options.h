// SPDX-License-Identifier: Apache-2.0
// Parses the options of popdist-agent's commands, with the same help and error messages for all of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/status.h"

namespace CLI {
class App;
}

namespace pop::agent {

/// Reads `arguments` into the variables that `app` binds. Returns an exit code if the program should end: 0
/// after printing the requested help, 1 for a mistake, which is reported on stderr.
std::optional<int> parseCommand(CLI::App& app, const std::vector<std::string>& arguments);

/// The address of a service.
struct Place {
  std::string address;
  int port = 0;
};

/// "10.0.0.1:7571", "h0:7571", "[::1]:7571". An error names `option`.
Result<Place> parsePlace(const std::string& option, const std::string& text);

}  // namespace pop::agent
