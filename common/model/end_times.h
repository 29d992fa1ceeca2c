// SPDX-License-Identifier: Apache-2.0
// How long the end of what resists SIGKILL is waited for, from the agent up to poprun: whoever waits for
// somebody else has more timeout than that one.
#pragma once

#include <chrono>

namespace pop {

/// So long after SIGKILL there is no hope for what still runs: it waits for a device, or the keeper is
/// stopped. An agent gives it up, and reports that.
inline constexpr std::chrono::seconds kKillTimeout{5};

/// So long after it was told to kill all instances, an agent has reported their ends, wherever it is.
inline constexpr std::chrono::seconds kKillReportTimeout = kKillTimeout + std::chrono::seconds(2);

/// An agent has ended all of a job within this, or says that it could not: keeper::endKeeper.
inline constexpr std::chrono::milliseconds kMostEndTime{7000};

/// So long the agent service waits for that, and then kills the agent.
inline constexpr std::chrono::milliseconds kServiceEndTimeout = kMostEndTime + std::chrono::seconds(1);

/// So long poprun waits for the end of an agent, or what the agent service says of it.
inline constexpr std::chrono::milliseconds kAgentEndTimeout = kServiceEndTimeout + std::chrono::seconds(1);

}  // namespace pop
