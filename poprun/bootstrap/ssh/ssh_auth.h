// SPDX-License-Identifier: Apache-2.0
// Authenticates the user: which keys are tried, in which order, and the error if none is accepted.
#pragma once

#include <string>

#include "common/base/status.h"
#include "poprun/bootstrap/ssh/ssh_config.h"
#include "poprun/bootstrap/ssh/wait.h"

struct ssh_session_struct;

namespace pop {

/// Tries the keys that the user named, then those of ssh-agent, then the default files if no key was named.
/// Never prompts. kUnimplemented: none is accepted, but the ssh program has ways in that libssh does not
/// have.
Status authenticate(ssh_session_struct* session, const std::string& who, const SshHostConfig& config,
                    const Wait& wait);

}  // namespace pop
