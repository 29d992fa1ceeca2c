// SPDX-License-Identifier: Apache-2.0
// The state machine of a job: one table, one pure step.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace pop {

enum class JobState : std::uint8_t {
  kPending,  ///< its hosts are being examined
  kStarting,
  kRunning,
  kStopping,
  kKilling,
  kRestarting,  ///< it has failed, and waits for its restart
  kDone,
};

enum class JobEvent : std::uint8_t {
  kPlaced,      ///< every instance has its host
  kAllStarted,  ///< every instance runs, or could not be started
  kFailure,     ///< the first failure: an instance, an agent, or the placement
  kStop,        ///< the user wants it to end
  kTimeout,     ///< its time limit
  kAllClosed,   ///< every instance has ended and its output is delivered
  kRetry,       ///< nothing of the attempt is left, and the job is to be restarted
  kDelayOver,   ///< the delay before the restart has passed
};

enum class JobAction : std::uint8_t { kNone, kPlace, kStartAll, kStopAll, kKillAll, kWait, kReport };

struct JobTransition {
  JobState to;
  JobAction action;
};

struct JobRow {
  JobState from;
  JobEvent on;
  JobState to;
  JobAction action;
};

inline constexpr std::array kJobTable{
    JobRow{JobState::kPending, JobEvent::kPlaced, JobState::kStarting, JobAction::kStartAll},
    JobRow{JobState::kPending, JobEvent::kFailure, JobState::kDone, JobAction::kReport},
    JobRow{JobState::kPending, JobEvent::kRetry, JobState::kRestarting, JobAction::kWait},
    JobRow{JobState::kPending, JobEvent::kStop, JobState::kDone, JobAction::kReport},
    JobRow{JobState::kPending, JobEvent::kTimeout, JobState::kDone, JobAction::kReport},

    JobRow{JobState::kStarting, JobEvent::kAllStarted, JobState::kRunning, JobAction::kNone},
    JobRow{JobState::kStarting, JobEvent::kFailure, JobState::kStopping, JobAction::kStopAll},
    JobRow{JobState::kStarting, JobEvent::kStop, JobState::kStopping, JobAction::kStopAll},
    JobRow{JobState::kStarting, JobEvent::kTimeout, JobState::kStopping, JobAction::kStopAll},

    JobRow{JobState::kRunning, JobEvent::kFailure, JobState::kStopping, JobAction::kStopAll},
    JobRow{JobState::kRunning, JobEvent::kStop, JobState::kStopping, JobAction::kStopAll},
    JobRow{JobState::kRunning, JobEvent::kTimeout, JobState::kStopping, JobAction::kStopAll},
    JobRow{JobState::kRunning, JobEvent::kAllClosed, JobState::kDone, JobAction::kReport},

    // A second stop kills the job without grace.
    JobRow{JobState::kStopping, JobEvent::kStop, JobState::kKilling, JobAction::kKillAll},
    JobRow{JobState::kStopping, JobEvent::kAllClosed, JobState::kDone, JobAction::kReport},
    JobRow{JobState::kStopping, JobEvent::kRetry, JobState::kRestarting, JobAction::kWait},

    JobRow{JobState::kKilling, JobEvent::kAllClosed, JobState::kDone, JobAction::kReport},

    JobRow{JobState::kRestarting, JobEvent::kDelayOver, JobState::kPending, JobAction::kPlace},
    JobRow{JobState::kRestarting, JobEvent::kStop, JobState::kDone, JobAction::kReport},
    JobRow{JobState::kRestarting, JobEvent::kTimeout, JobState::kDone, JobAction::kReport},
};

/// The state after `event` in `state`, or nothing if the event has no meaning there.
constexpr std::optional<JobTransition> step(JobState state, JobEvent event) {
  for (const JobRow& row : kJobTable) {
    if (row.from == state && row.on == event) return JobTransition{row.to, row.action};
  }
  return std::nullopt;
}

constexpr const char* nameOf(JobState state) {
  switch (state) {
    case JobState::kPending:
      return "pending";
    case JobState::kStarting:
      return "starting";
    case JobState::kRunning:
      return "running";
    case JobState::kStopping:
      return "stopping";
    case JobState::kKilling:
      return "killing";
    case JobState::kRestarting:
      return "waiting to be started again";
    case JobState::kDone:
      return "done";
  }
  return "?";
}

static_assert(!step(JobState::kDone, JobEvent::kFailure), "nothing leaves done");

}  // namespace pop
