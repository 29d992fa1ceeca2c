// SPDX-License-Identifier: Apache-2.0
// One request for several jobs: `popctl cancel job 3 4 5`, `popctl hold job --name train`.
#pragma once

#include "popctl/commands.h"

namespace CLI {
class App;
}

namespace pop::popctl {

/// The jobs, and --user and --name.
void addSeveral(CLI::App& app, Command& command);

/// Asks for each of them, and goes on after a failure. Returns the first one's exit code.
int askOfSeveral(const Command& command, ControllerClient& client);

}  // namespace pop::popctl
