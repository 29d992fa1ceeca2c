// SPDX-License-Identifier: Apache-2.0
// The socket in a job's directory, on which clients send RunnerOrders and the runner RunnerReports.
// Records are not sent: clients read them in the directory, so that no client can hold the job up.
#pragma once

#include <string>

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace pop::runner {

/// Listens for clients of the job in `directory`.
Result<sys::Fd> listenForClients(const std::string& directory);

/// Connects to the job's runner. kUnavailable: there is none any more, or it does not listen yet
/// (hasRunner()).
Result<sys::Fd> connectToRunner(const std::string& directory);

}  // namespace pop::runner
