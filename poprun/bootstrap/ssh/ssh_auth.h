// SPDX-License-Identifier: Apache-2.0
// Who we are: the keys that are tried, in which order, and what is said when none is accepted.
#pragma once

#include <string>

#include "common/base/status.h"
#include "poprun/bootstrap/ssh/ssh_config.h"
#include "poprun/bootstrap/ssh/wait.h"

struct ssh_session_struct;

namespace pop {

/// Keys that the user named, then the agent's, then the usual files if none was named. Never asks anybody.
Status authenticate(ssh_session_struct* session, const std::string& who, const SshHostConfig& config,
                    const Wait& wait);

}  // namespace pop
