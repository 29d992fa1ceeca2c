// SPDX-License-Identifier: Apache-2.0
// The directory in which one popdistd keeps its store.
#pragma once

#include <string>

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace pop::popdistd {

/// Makes the directory, for this user alone, or checks the one that is there, and takes it for this process
/// as long as the descriptor is open.
/// kAlreadyExists: another popdistd has it; names its process. kPermissionDenied: it belongs to another user,
/// others may write there, or no user may.
Result<sys::Fd> takeStateDirectory(const std::string& path);

}  // namespace pop::popdistd
