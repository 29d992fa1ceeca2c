// SPDX-License-Identifier: Apache-2.0
// Ends everything below this process. The caller must be a child subreaper (PR_SET_CHILD_SUBREAPER): then
// whatever double-forks, daemonises or changes its process group still ends up below it.
#pragma once

#include <chrono>
#include <functional>

#include <sys/types.h>

namespace pop::keeper {

/// Kills and reaps every descendant, until none is left or `patience` is over. `reaped` hears of each direct
/// child or adopted orphan. Returns true when none is left. A process in uninterruptible sleep can outlast
/// the patience.
bool endAllDescendants(std::chrono::milliseconds patience,
                       const std::function<void(pid_t, int wait_status)>& reaped);

}  // namespace pop::keeper
