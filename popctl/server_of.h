// SPDX-License-Identifier: Apache-2.0
// A command's server, with what it needs of this process: certificates, token, environment.
#pragma once

#include <chrono>

#include "popctl/command.h"
#include "popctl/rpc/server.h"
#include "popctl/settings.h"

namespace pop::popctl {

/// The server that `settings` name, with the user's certificates; warnings about these are on stderr.
Result<Server> serverOf(const Command& command, const ServerSettings& settings);

/// The timeout of one request.
std::chrono::milliseconds timeoutOf(const Command& command);

/// The environment and the files of this process.
Surroundings ownSurroundings();

}  // namespace pop::popctl
