// SPDX-License-Identifier: Apache-2.0
// popdist-agent become: turns this fresh process, which has one thread, into a program of a user. What a
// service with threads cannot do between fork and exec is done here.
#pragma once

#include <string>
#include <vector>

namespace pop::agent {

/// `arguments`: "USER PARENT_PID -- PROGRAM …", what follows "become". Executes the program, by its path, as
/// the user: its groups, a session and a session keyring of its own, its home as working directory (else /),
/// only the environment of a login, only descriptors 0 to 2, and SIGKILL when the parent dies. Returns only
/// when that fails: 126 or 127 for the program, as shells do, else 125; the reason is on stderr.
int runBecome(const std::vector<std::string>& arguments);

}  // namespace pop::agent
