// SPDX-License-Identifier: Apache-2.0
// Which jobs' directories go, and how.
#pragma once

#include <span>
#include <string>

#include "runner/store/job_directory.h"

namespace pop::runner {

/// Removes the directories of jobs that ended, or were lost, more than 30 days ago, and were so a day ago,
/// too: a clock that is ahead for a while removes nothing. Also the oldest of them beyond 1,000. What cannot
/// be removed stays. `jobs`: all there are; `now`: the time of day.
void removeOldJobs(std::span<const JobEntry> jobs, std::chrono::system_clock::time_point now);

/// Removes the directory `number` in `root` if its creator was stopped before it was a job.
void removeUnfinished(const std::string& root, int number);

}  // namespace pop::runner
