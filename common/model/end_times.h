// SPDX-License-Identifier: Apache-2.0
// Timeouts for the end of processes that resist SIGKILL, from the agent up to poprun: each level waits longer
// than the level below it.
#pragma once

#include <chrono>

namespace pop {

/// This long after SIGKILL, a process that still runs will not end soon: it waits for a device, or the keeper
/// is stopped. The agent abandons it and reports that.
inline constexpr std::chrono::seconds kKillTimeout{5};

/// Within this time of being told to kill all instances, an agent has reported their ends, wherever it runs.
inline constexpr std::chrono::seconds kKillReportTimeout = kKillTimeout + std::chrono::seconds(2);

/// Within this time an agent has ended everything of a job, or reports that it could not: keeper::endKeeper.
inline constexpr std::chrono::milliseconds kMaxEndTime{7000};

/// The agent service waits this long for the agent, and then kills it.
inline constexpr std::chrono::milliseconds kServiceEndTimeout = kMaxEndTime + std::chrono::seconds(1);

/// poprun waits this long for the end of an agent, or for the agent service's report about it.
inline constexpr std::chrono::milliseconds kAgentEndTimeout = kServiceEndTimeout + std::chrono::seconds(1);

}  // namespace pop
