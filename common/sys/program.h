// SPDX-License-Identifier: Apache-2.0
// Short helper programs, run to their end.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop::sys {

/// The path of our own program `name`: in ../libexec/poprun (installed), else beside this one (built).
std::string ownProgram(const std::string& name);

/// Starts `command` with `stdio` as its descriptors 0, 1 and 2, default signals and a session of its own,
/// so that it cannot wait for an answer at our terminal; our other descriptors stay ours. Whoever starts it
/// waits for it.
Result<pid_t> startProgram(const std::vector<std::string>& command, const std::array<int, 3>& stdio);

/// What `command` prints on stdout, once it has ended with 0. It gets no input, default signals and a session
/// of its own; our descriptors stay ours. Else an error with its last words on stderr, its exit code or
/// signal; kDeadlineExceeded and its death after `patience`.
Result<std::string> outputOf(const std::vector<std::string>& command, std::chrono::milliseconds patience);

}  // namespace pop::sys
