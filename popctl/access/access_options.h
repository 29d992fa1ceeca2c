// SPDX-License-Identifier: Apache-2.0
// Options of popctl's commands on users, tokens and the audit log.
#pragma once

#include "popctl/command.h"

namespace CLI {
class App;
}

namespace pop::popctl {

/// Those of `action`. `options` outlives `app`.
void addAccessOptions(CLI::App& app, Action action, AccessOptions& options);

}  // namespace pop::popctl
