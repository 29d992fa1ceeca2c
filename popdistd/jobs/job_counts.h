// SPDX-License-Identifier: Apache-2.0
// What the daemon tells of many jobs at once.
#pragma once

#include "popdistd/jobs/job_table.h"

namespace pop::popdistd {

/// The counts and what queued jobs wait for; neither the revision nor which are in trouble.
v1::CountJobsReply countOf(const JobTable& jobs);

/// Without what only a page about this job shows: ListJobsRequest.brief.
v1::JobInfo brief(v1::JobInfo job);

}  // namespace pop::popdistd
