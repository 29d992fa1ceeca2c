// SPDX-License-Identifier: Apache-2.0
// Short helper programs, run to their end.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop::sys {

/// The path of our own program `name`: in PREFIX/libexec/poprun or PREFIX/bin, where this one is in either of
/// them (installed), else beside this one (built).
std::string ownProgram(const std::string& name);
/// The same for the program at `self`.
std::string programOf(const std::string& self, const std::string& name);

/// What `command` prints on stdout, once it has ended with 0. It gets no input, default signals and a session
/// of its own; our descriptors stay ours. Else an error with its last words on stderr, its exit code or
/// signal; kDeadlineExceeded and its death after `timeout`.
Result<std::string> outputOf(const std::vector<std::string>& command, std::chrono::milliseconds timeout);

}  // namespace pop::sys
