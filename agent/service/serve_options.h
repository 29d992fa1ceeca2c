// SPDX-License-Identifier: Apache-2.0
// popdist-agent serve as a command: its options, and the service they ask for.
#pragma once

#include <string>
#include <vector>

namespace pop::agent {

/// `arguments`: what follows "serve". Serves until SIGTERM or SIGINT; SIGHUP reads the users file and the
/// certificates again, which counts with TLS only. The process's exit code. Call it while the process has one
/// thread.
int runServe(const std::vector<std::string>& arguments);

}  // namespace pop::agent
