// SPDX-License-Identifier: Apache-2.0
// The command popdist-agent serve: its options, and the service they configure.
#pragma once

#include <string>
#include <vector>

namespace pop::agent {

/// `arguments`: the words after "serve". Serves until SIGTERM or SIGINT; with TLS, SIGHUP reloads the users
/// file and the certificates. Returns the process's exit code. Call it while the process has only one thread.
int runServe(const std::vector<std::string>& arguments);

}  // namespace pop::agent
