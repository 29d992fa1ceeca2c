// SPDX-License-Identifier: Apache-2.0
// Waits for a job's end, and can stop waiting: clients come and go more often than jobs end, and nothing of
// them may stay.
#pragma once

#include <memory>

#include "popdistd/api/api.h"

namespace pop::popdistd {

/// Calls `reply` once, when the job has ended, or with why that cannot be known. To destroy the returned
/// object stops it: no reply follows. On the loop's thread, like all of Api, which outlives the object.
std::shared_ptr<void> waitForJob(Api& api, const Caller& caller, const v1::JobRef& job,
                                 Reply<v1::JobInfo> reply);

}  // namespace pop::popdistd
