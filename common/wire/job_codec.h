// SPDX-License-Identifier: Apache-2.0
// A job and the reports on it, as bytes of proto/popdist/v1/job.proto: for the job's directory and
// the runner's socket. Decoding trusts nothing: what cannot be is kInvalidArgument, which says what it is.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/status.h"
#include "common/model/job_spec.h"
#include "common/ports/job_report.h"

namespace pop::wire {

/// A piece of what an instance has written.
struct Output {
  int instance = 0;
  Stream stream = Stream::kStdout;
  std::string text;

  friend bool operator==(const Output&, const Output&) = default;
};

/// Places of the instances of an attempt.
struct Placed {
  std::vector<PlacedInstance> instances;

  friend bool operator==(const Placed&, const Placed&) = default;
};

/// A failure after which the job starts again.
struct Restarting {
  JobOutcome failed;  ///< with its failure
  int restart = 0;

  friend bool operator==(const Restarting&, const Restarting&) = default;
};

/// A line of the runner itself, for people.
struct Said {
  std::string line;

  friend bool operator==(const Said&, const Said&) = default;
};

/// Contents of a record of kind kEvent. Texts for people come back as validUtf8() writes them, which a
/// terminal shows as it would have shown the original; all else comes back as it was.
using JobEvent = std::variant<LogEntry, Placed, Restarting, Said, JobOutcome>;

std::string encode(const Output& output);
/// `num_instances`: the job's. An instance that is named is one of these, here and in events.
Result<Output> decodeOutput(std::string_view bytes, int num_instances);

std::string encode(const JobEvent& event);
Result<JobEvent> decodeEvent(std::string_view bytes, int num_instances);

/// A job without mistakes (model::findMistakes), as it was submitted.
std::string encode(const model::JobSpec& spec);
/// Does not look for the mistakes that findMistakes finds.
Result<model::JobSpec> decodeSpec(std::string_view bytes);

}  // namespace pop::wire
