// SPDX-License-Identifier: Apache-2.0
// The options of popdistd.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "popdistd/daemon.h"

namespace pop::popdistd {

/// The options, or the exit code of a process that is to end at once: 0 after --help and --version, 2 after a
/// mistake, which is reported on stderr.
std::variant<DaemonOptions, int> parseDaemonOptions(const std::vector<std::string>& arguments);

}  // namespace pop::popdistd
