// SPDX-License-Identifier: Apache-2.0
// Searches and counts over many jobs at once.
#pragma once

#include <functional>
#include <string>

#include "popdistd/jobs/table/job_table.h"

namespace pop::popdistd {

/// Why it waits, or has ended as it has, for people: JobLives::reasonOf().
using ReasonOf = std::function<const std::string&(const Job& job)>;

/// True if the job's id, name, user, first host, command or reason contains the text, in any case. `text`: in
/// lower case.
bool hasText(const Job& job, const ReasonOf& reason_of, std::string_view text);

/// The counts and what queued jobs wait for; neither the revision nor which are in trouble.
v1::CountJobsReply countOf(const JobTable& jobs, const ReasonOf& reason_of);

/// Without what only a page about this job shows: ListJobsRequest.brief.
v1::JobInfo brief(v1::JobInfo job);

}  // namespace pop::popdistd
