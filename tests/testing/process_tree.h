// SPDX-License-Identifier: Apache-2.0
// Processes of this machine, by /proc. A test marks everything that it starts by a variable in its
// environment: descendants inherit it, whatever they do to their parents, sessions and process groups.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pop::testing {

using Milliseconds = std::chrono::milliseconds;

/// Polls `condition` until it holds (true) or the time is over (false).
bool waitUntil(const std::function<bool()>& condition, Milliseconds limit);

struct ProcessStat {
  std::string name;  ///< as in /proc/PID/comm
  char state = '?';  ///< R, S, D, T (stopped), Z (zombie)
  pid_t parent = 0;
  pid_t group = 0;
};

/// Nothing when there is no such process.
std::optional<ProcessStat> statOf(pid_t pid);

/// Children of the calling process, zombies included.
std::vector<pid_t> ownChildren();

/// The first child of `parent` with this name, or -1.
pid_t childNamed(pid_t parent, const std::string& name);

/// Processes whose environment holds `variable` ("NAME=value"). Zombies have no environment any more.
std::vector<pid_t> processesWith(const std::string& variable);

/// "812 (pop-keeper, S)" for each, for messages.
std::string describeProcesses(const std::vector<pid_t>& pids);

}  // namespace pop::testing
