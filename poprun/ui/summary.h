// SPDX-License-Identifier: Apache-2.0
// The summary of a failed job: what failed first, where and when, its last lines on stderr, and what happened
// to the other instances.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "common/model/job_spec.h"
#include "common/ports/job_report.h"

namespace pop {

/// Facts about the first failure that the outcome does not contain.
struct SummaryFacts {
  std::chrono::milliseconds after{0};  ///< since the job's start
  std::chrono::system_clock::time_point wall_clock;
  std::vector<std::string> last_errors;  ///< the instance's last lines on stderr
  std::string program_hint;  ///< a program that may have been meant by one that is not there; or empty
};

/// Lines for stderr; empty for a job that succeeded, or that the user ended with Ctrl-C or by closing its
/// output. The first line is a complete sentence; the others are indented.
std::string summaryOf(const JobOutcome& outcome, const model::JobSpec& spec, const SummaryFacts& facts);

/// The message about a failure after which the job restarts, for the `restart`-th time.
std::string restartNotice(const JobOutcome& failed, const model::JobSpec& spec, int restart);

}  // namespace pop
