// SPDX-License-Identifier: Apache-2.0
// Starts one program from a process that may have threads. Not posix_spawn, which cannot give a child other
// limits than ours.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop::sys {

/// What the program leads. With a session of its own it cannot wait for an answer at our terminal; a group of
/// its own leaves it the terminal, and Ctrl-C to us.
enum class Leads : std::uint8_t { kSession, kGroup };

/// Starts `command`, looked up in PATH, with `stdio` as its descriptors 0, 1 and 2, default signals and the
/// limits that were there before setUpForJobs() raised them; our other descriptors stay ours. Whoever starts
/// it waits for it.
Result<pid_t> startProgram(const std::vector<std::string>& command, const std::array<int, 3>& stdio,
                           Leads leads = Leads::kSession);

}  // namespace pop::sys
