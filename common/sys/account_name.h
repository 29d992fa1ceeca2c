// SPDX-License-Identifier: Apache-2.0
// Names of users, as this machine's accounts have them. USER is not set in cron, units and containers.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace pop::sys {

/// Nothing: the user has no account here. Waits as long as the name services do.
std::optional<std::string> accountName(uid_t user);

/// "alice (1000)", or "1000".
std::string userText(uid_t user);

}  // namespace pop::sys
