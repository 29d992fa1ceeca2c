// SPDX-License-Identifier: Apache-2.0
// Ends everything below this process. The caller must be a child subreaper (PR_SET_CHILD_SUBREAPER): then
// whatever double-forks, daemonises or changes its process group still ends up below it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <set>

namespace pop::keeper {

/// How long to wait for what does not die at once of SIGKILL.
inline constexpr std::chrono::milliseconds kTimeout{5000};

/// The children of this process, zombies included.
std::set<pid_t> ownChildren();

/// Kills and reaps every descendant but `spared` children and what is below them, until none is left or
/// `timeout` is over. Returns true when none is left. A process in uninterruptible sleep can outlast the
/// timeout.
bool endAllDescendants(std::chrono::milliseconds timeout, const std::set<pid_t>& spared);

}  // namespace pop::keeper
