// SPDX-License-Identifier: Apache-2.0
// popdist-agent init-tls as a command: its options, and what it says.
#pragma once

#include <string>
#include <vector>

namespace pop::agent {

/// `arguments`: what follows "init-tls". Returns the exit code: 0, or 1 with every mistake on stderr.
int runInitTls(const std::vector<std::string>& arguments);

}  // namespace pop::agent
