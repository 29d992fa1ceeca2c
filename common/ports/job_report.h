// SPDX-License-Identifier: Apache-2.0
// Reports on a job to its submitter: its events, the places of its instances, its end.
// Values only, which could come from another process: times count from the job's submission.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/model/binding.h"
#include "common/ports/job_slice.h"

namespace pop {

/// Meaning of an entry to a program that reads it.
enum class EventKind : std::uint8_t {
  kNote,
  kWarning,      ///< people should read it even when all goes well
  kJobStarting,  ///< all instances are about to start, for the first time or again
  kInstanceStarted,
  kInstanceEnded,
  kInstanceClosed,  ///< all that it has written has been delivered
};

/// Something that has happened to a job.
struct LogEntry {
  std::chrono::milliseconds after{0};  ///< the submission, when the controller learnt of it
  int instance = -1;                   ///< -1: the whole job
  std::string text;
  EventKind kind = EventKind::kNote;

  friend bool operator==(const LogEntry&, const LogEntry&) = default;
};

/// Place of one instance.
struct PlacedInstance {
  std::string host;  ///< its name
  model::Binding binding;

  friend bool operator==(const PlacedInstance&, const PlacedInstance&) = default;
};

/// The first failure of a job.
struct Failure {
  int instance = -1;   ///< -1: not an instance's
  pid_t pid = 0;       ///< 0: never started
  std::string reason;  ///< "was killed by SIGSEGV", "asked to end the job: …"
  int exit_code = 0;
  bool lost = false;  ///< the instance did not end by itself: its host cannot go on
  std::string host;   ///< the instance's
  /// Hosts were lost, or could not be reached: `reason` names them all, and is a sentence of its own.
  bool hosts_lost = false;
  int instances_lost = 0;              ///< with their hosts
  std::chrono::milliseconds after{0};  ///< the submission, when the controller learnt of it

  friend bool operator==(const Failure&, const Failure&) = default;
};

/// The instances' reports under one name, as one value.
struct JobValue {
  std::string name;  ///< without control characters
  contract::Fold fold = contract::Fold::kSum;
  double value = 0;
  int instances = 0;  ///< that have reported one

  friend bool operator==(const JobValue&, const JobValue&) = default;
};

struct JobOutcome {
  int exit_code = 0;
  int user_signal = 0;                   ///< the signal with which the user ended the job, or 0
  bool timed_out = false;                ///< its time limit ended it
  std::optional<Failure> failure;        ///< first failure, if any
  std::string why_not_again;             ///< why it was not started again, when it was to be
  int restarts = 0;                      ///< number of restarts of the job
  int instances_stopped = 0;             ///< that were still running when the end was decided by another
  int hosts_unanswered = 0;              ///< when the time limit came before anything could start
  std::vector<StackTrace> stack_traces;  ///< of the instances when the time was over, if asked for

  friend bool operator==(const JobOutcome&, const JobOutcome&) = default;
};

}  // namespace pop
