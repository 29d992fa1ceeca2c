// SPDX-License-Identifier: Apache-2.0
// popctl from end to end: arguments to exit code.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "popctl/command.h"
#include "popctl/rpc/server.h"
#include "popctl/settings.h"

namespace pop::popctl {

/// `program`: the name under which it was called, vipu's for V-IPU's options.
int runApp(const std::string& program, const std::vector<std::string>& arguments);

// What commands need of their process.

/// The server that `settings` name, with the user's certificates; warnings about these are on stderr.
Result<Server> serverOf(const Command& command, const ServerSettings& settings);

/// Of one request.
std::chrono::milliseconds timeoutOf(const Command& command);

/// The environment and the files of this process.
Surroundings ownSurroundings();

}  // namespace pop::popctl
