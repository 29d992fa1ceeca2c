// SPDX-License-Identifier: Apache-2.0
// Ends all descendants of this process. The caller must be a child subreaper (PR_SET_CHILD_SUBREAPER): then
// processes that double-fork, daemonise or change their process group are still descendants.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <set>

namespace pop::keeper {

/// Longest wait for processes that do not die at once of SIGKILL.
inline constexpr std::chrono::milliseconds kTimeout{5000};

/// Returns the children of this process, zombies included.
std::set<pid_t> ownChildren();

/// Kills and reaps every descendant, except the children in `spared` and their descendants, until none is
/// left or `timeout` is over. Returns true when none is left. A process in uninterruptible sleep can outlast
/// the timeout.
bool endAllDescendants(std::chrono::milliseconds timeout, const std::set<pid_t>& spared);

}  // namespace pop::keeper
