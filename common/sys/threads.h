// SPDX-License-Identifier: Apache-2.0
// The threads of any process, as /proc lists them.
#pragma once

#include <sys/types.h>

#include <vector>

namespace pop::sys {

/// Thread ids of `pid`; empty if the process is gone or /proc is missing.
std::vector<pid_t> threadsOf(pid_t pid);

}  // namespace pop::sys
