// SPDX-License-Identifier: Apache-2.0
// What a job is and what is told of it, as bytes of proto/popdist/v1/job.proto: for the job's directory and
// the runner's socket.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/status.h"
#include "common/model/job_spec.h"
#include "common/ports/job_report.h"

namespace pop::runner {

/// A piece of what an instance has written.
struct Output {
  int instance = 0;
  Stream stream = Stream::kStdout;
  std::string text;
};

/// Where the instances of an attempt run.
struct Placed {
  std::vector<PlacedInstance> instances;
};

/// A failure after which the job starts again.
struct Restarting {
  JobOutcome failed;
  int restart = 0;
};

/// A line of the runner itself, for people.
struct Said {
  std::string line;
};

/// What a record of kind kEvent holds.
using JobEvent = std::variant<LogEntry, Placed, Restarting, Said, JobOutcome>;

std::string encode(const Output& output);
Result<Output> decodeOutput(std::string_view bytes);

std::string encode(const JobEvent& event);
Result<JobEvent> decodeEvent(std::string_view bytes);

/// A job as it was submitted.
std::string encode(const model::JobSpec& spec);
/// kInvalidArgument: not a spec that this version writes; it says what is wrong.
Result<model::JobSpec> decodeSpec(std::string_view bytes);

}  // namespace pop::runner
