// SPDX-License-Identifier: Apache-2.0
// The directory of one job as its runner gets it: made by the agent service, empty, its user's.
#pragma once

#include <string>

#include "common/base/status.h"

namespace pop::runner {

/// kFailedPrecondition: it is no directory, or others may write there; kPermissionDenied: it is not ours.
Status checkPlace(const std::string& directory);

/// True if a job has been started in it, even without success.
bool hasJob(const std::string& directory);

/// Removes what is in the directory, which stays. No directory is as good as an empty one.
Status emptyPlace(const std::string& directory);

}  // namespace pop::runner
