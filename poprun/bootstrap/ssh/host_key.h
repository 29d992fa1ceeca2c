// SPDX-License-Identifier: Apache-2.0
// Verifies a server's host key against the known hosts. The error says which command to run.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"
#include "poprun/bootstrap/ssh/ssh_options.h"

struct ssh_session_struct;

namespace pop {

/// `host` and `port`: as the known hosts name the server. `known_hosts`: the user's file, to which keys are
/// added, and that of the system.
Status checkHostKey(ssh_session_struct* session, const std::string& host, int port, HostKeyPolicy policy,
                    const std::vector<std::string>& known_hosts);

}  // namespace pop
