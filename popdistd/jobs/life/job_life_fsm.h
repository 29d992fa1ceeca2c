// SPDX-License-Identifier: Apache-2.0
// The state machine of the daemon's job: one table, one pure step. docs/spec/daemon_jobs.md has the same rows
// in words. Which of two events it is (a host refuses: once more, or for good) is for JobLives to know.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "proto/popdist/v1/controller.pb.h"

namespace pop::popdistd {

namespace v1 = ::popdist::v1;

enum class JobLifeEvent : std::uint8_t {
  kHold,
  kRelease,
  kTurn,         ///< its hosts are free, and its partition is ready
  kCannotStart,  ///< as it was submitted, or not any more
  kDrop,         ///< a cancel, and no host has heard of it
  kCancel,       ///< any other one
  kRefused,      ///< by its host, and may be tried again; or its start was cancelled meanwhile
  kNotThere,     ///< its host has nothing of it, and nothing of it has run
  kRunnerThere,
  kRunnerGone,  ///< without an outcome
  kOutcome,
  kHostsFree,  ///< proved: nothing of it runs anywhere
  kHostLost,   ///< its first, which has its runner
};

/// The action that must follow a transition.
enum class JobLifeAction : std::uint8_t {
  kPlan,         ///< the jobs that start now
  kOrderStart,   ///< once its hosts are stored
  kWaitAgain,    ///< it gives back what it has taken
  kBeginRun,     ///< its time begins
  kStop,         ///< its runner is told to; from the second time on: to kill
  kAskForProof,  ///< its other hosts: kHostsFree
  kEndFailed,
  kEndCancelled,
  kEndLost,
  kEndByOutcome,
};

struct JobLifeTransition {
  v1::JobState to;
  JobLifeAction action;

  friend constexpr bool operator==(const JobLifeTransition&, const JobLifeTransition&) = default;
};

struct JobLifeRow {
  v1::JobState from;
  JobLifeEvent on;
  v1::JobState to;
  JobLifeAction action;
};

inline constexpr std::array kJobLifeTable = [] {
  using enum JobLifeEvent;
  using Do = JobLifeAction;
  return std::array{
      JobLifeRow{v1::JOB_QUEUED, kHold, v1::JOB_HELD, Do::kPlan},
      JobLifeRow{v1::JOB_QUEUED, kTurn, v1::JOB_STARTING, Do::kOrderStart},
      JobLifeRow{v1::JOB_QUEUED, kCannotStart, v1::JOB_ENDED, Do::kEndFailed},
      JobLifeRow{v1::JOB_QUEUED, kDrop, v1::JOB_ENDED, Do::kEndCancelled},

      JobLifeRow{v1::JOB_HELD, kHold, v1::JOB_HELD, Do::kPlan},
      JobLifeRow{v1::JOB_HELD, kRelease, v1::JOB_QUEUED, Do::kPlan},
      JobLifeRow{v1::JOB_HELD, kDrop, v1::JOB_ENDED, Do::kEndCancelled},

      JobLifeRow{v1::JOB_STARTING, kRunnerThere, v1::JOB_RUNNING, Do::kBeginRun},
      JobLifeRow{v1::JOB_STARTING, kNotThere, v1::JOB_QUEUED, Do::kWaitAgain},
      JobLifeRow{v1::JOB_STARTING, kRefused, v1::JOB_QUEUED, Do::kWaitAgain},
      JobLifeRow{v1::JOB_STARTING, kCannotStart, v1::JOB_ENDED, Do::kEndFailed},
      JobLifeRow{v1::JOB_STARTING, kDrop, v1::JOB_ENDED, Do::kEndCancelled},
      JobLifeRow{v1::JOB_STARTING, kCancel, v1::JOB_ENDING, Do::kStop},
      // Its runner began and ended without the daemon hearing of it.
      JobLifeRow{v1::JOB_STARTING, kOutcome, v1::JOB_ENDED, Do::kEndByOutcome},
      JobLifeRow{v1::JOB_STARTING, kRunnerGone, v1::JOB_ENDING, Do::kAskForProof},
      JobLifeRow{v1::JOB_STARTING, kHostLost, v1::JOB_ENDED, Do::kEndLost},

      JobLifeRow{v1::JOB_RUNNING, kOutcome, v1::JOB_ENDED, Do::kEndByOutcome},
      JobLifeRow{v1::JOB_RUNNING, kCancel, v1::JOB_ENDING, Do::kStop},
      JobLifeRow{v1::JOB_RUNNING, kRunnerGone, v1::JOB_ENDING, Do::kAskForProof},
      JobLifeRow{v1::JOB_RUNNING, kHostLost, v1::JOB_ENDED, Do::kEndLost},

      JobLifeRow{v1::JOB_ENDING, kOutcome, v1::JOB_ENDED, Do::kEndByOutcome},
      JobLifeRow{v1::JOB_ENDING, kCancel, v1::JOB_ENDING, Do::kStop},
      JobLifeRow{v1::JOB_ENDING, kRunnerGone, v1::JOB_ENDING, Do::kAskForProof},
      JobLifeRow{v1::JOB_ENDING, kHostsFree, v1::JOB_ENDED, Do::kEndFailed},
      JobLifeRow{v1::JOB_ENDING, kNotThere, v1::JOB_ENDED, Do::kEndCancelled},
      JobLifeRow{v1::JOB_ENDING, kRefused, v1::JOB_ENDED, Do::kEndCancelled},
      JobLifeRow{v1::JOB_ENDING, kHostLost, v1::JOB_ENDED, Do::kEndLost},
  };
}();

/// The transition for `event` in `state`, or nothing if the event has no meaning there.
constexpr std::optional<JobLifeTransition> step(v1::JobState state, JobLifeEvent event) {
  for (const JobLifeRow& row : kJobLifeTable) {
    if (row.from == state && row.on == event) return JobLifeTransition{row.to, row.action};
  }
  return std::nullopt;
}

/// The first state of a submitted job.
constexpr v1::JobState firstState(bool held) {
  return held ? v1::JOB_HELD : v1::JOB_QUEUED;
}

static_assert(!step(v1::JOB_ENDED, JobLifeEvent::kCancel), "nothing leaves ended");

}  // namespace pop::popdistd
