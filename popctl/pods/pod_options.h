// SPDX-License-Identifier: Apache-2.0
// Options of popctl's commands on partitions and what they are made from, named as V-IPU names them.
#pragma once

#include <string>

#include "popctl/command.h"

namespace CLI {
class App;
}

namespace pop::popctl {

/// Those of `action`. `options` outlives `app`.
void addPodOptions(CLI::App& app, Action action, PodOptions& options);

/// The options that do not go together; empty: all do.
std::string podMistake(const Command& command);

}  // namespace pop::popctl
