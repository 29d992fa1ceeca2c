// SPDX-License-Identifier: Apache-2.0
// Parsing the options of popdist-agent's commands: help, and mistakes, are the same for all of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/status.h"

namespace CLI {
class App;
}

namespace pop::agent {

/// Reads `arguments` into what `app` binds. An exit code: help was asked for and printed (0), or there is a
/// mistake, which is on stderr (1).
std::optional<int> parseCommand(CLI::App& app, const std::vector<std::string>& arguments);

/// Where a service listens.
struct Place {
  std::string address;
  int port = 0;
};

/// "10.0.0.1:7571", "h0:7571", "[::1]:7571". An error names `option`.
Result<Place> parsePlace(const std::string& option, const std::string& text);

}  // namespace pop::agent
