// SPDX-License-Identifier: Apache-2.0
// The command popdist-agent init-tls: its options and its output.
#pragma once

#include <string>
#include <vector>

namespace pop::agent {

/// `arguments`: the words after "init-tls". Returns the exit code: 0, or 1 with every mistake on stderr.
int runInitTls(const std::vector<std::string>& arguments);

}  // namespace pop::agent
