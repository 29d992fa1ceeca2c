// SPDX-License-Identifier: Apache-2.0
// The last thing a user reads of a job that did not go well: what failed first, where, when, its last words,
// and what became of the rest.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "common/model/job_spec.h"
#include "common/ports/job_report.h"

namespace pop {

/// What the outcome alone does not tell of the first failure.
struct SummaryFacts {
  std::chrono::milliseconds after{0};  ///< since the job's start
  std::chrono::system_clock::time_point wall_clock;
  std::vector<std::string> last_errors;  ///< what the instance wrote to stderr last
  std::string program_hint;  ///< of a program that is not there: what may have been meant; or empty
};

/// Lines for stderr; empty for a job that succeeded, or whose user ended it with Ctrl-C or by closing its
/// output. The first line is a sentence of its own, the others are indented.
std::string summaryOf(const JobOutcome& outcome, const model::JobSpec& spec, const SummaryFacts& facts);

/// What a user reads of a failure after which the job starts again, for the `restart`-th time.
std::string restartNotice(const JobOutcome& failed, const model::JobSpec& spec, int restart);

}  // namespace pop
