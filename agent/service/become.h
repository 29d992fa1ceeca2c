// SPDX-License-Identifier: Apache-2.0
// popdist-agent become: turns a new single-threaded process into a program of another user. It does the work
// that a service with threads cannot do between fork and exec.
#pragma once

#include <string>
#include <vector>

namespace pop::agent {

/// `arguments`: "USER PARENT_PID -- PROGRAM …", the words after "become"; before the dashes the rest of
/// wordsOf() the user, if the caller has looked it up. Executes the program, given by path, as the user: with
/// the user's groups, its own session and session keyring, the home directory (else /) as working directory,
/// only a login environment, only descriptors 0 to 2, and SIGKILL when the parent dies. Returns only on
/// failure: 126 or 127 for the program, as shells do, else 125; the reason is on stderr.
int runBecome(const std::vector<std::string>& arguments);

}  // namespace pop::agent
