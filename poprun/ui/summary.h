// SPDX-License-Identifier: Apache-2.0
// The last thing a user reads of a job that did not go well: what failed first, where, and what became of the
// rest.
#pragma once

#include <string>

#include "common/model/job_spec.h"
#include "popdistd/controller/exit_policy.h"

namespace pop {

/// Lines for stderr; empty for a job that succeeded, or whose user ended it with Ctrl-C or by closing its
/// output.
std::string summaryOf(const JobOutcome& outcome, const model::JobSpec& spec);

/// What a user reads of a failure after which the job starts again, for the `restart`-th time.
std::string restartNotice(const JobOutcome& failed, const model::JobSpec& spec, int restart);

}  // namespace pop
