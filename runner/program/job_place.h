// SPDX-License-Identifier: Apache-2.0
// The directory of one job as its runner gets it: made by the agent service, empty, its user's.
#pragma once

#include <string>

#include "common/base/status.h"
#include "proto/popdist/v1/host.pb.h"

namespace pop::runner {

/// kFailedPrecondition: it is no directory, or others may write there; kPermissionDenied: it is not ours.
Status checkPlace(const std::string& directory);

/// Whether a job has been started in it, whatever has become of that.
bool hasJob(const std::string& directory);

/// Removes what is in the directory, which stays. No directory is as good as an empty one.
Status emptyPlace(const std::string& directory);

/// Writes a user's certificate for agent services, as tls::loadUserTls reads it, and returns the directory
/// that has it: tls/ in `directory`, for its user alone.
Result<std::string> writeCredentials(const std::string& directory, const std::string& user,
                                     const ::popdist::v1::JobCredentials& credentials);

/// Removes that directory.
void removeCredentials(const std::string& tls);

}  // namespace pop::runner
