// SPDX-License-Identifier: Apache-2.0
// Runs the job that an agent service orders.
#pragma once

#include <string>

#include "common/base/status.h"
#include "proto/popdist/v1/host.pb.h"

namespace pop::runner {

/// Runs the job in `directory`, over this process's stdin and stdout, to its end and until nobody needs its
/// runner any more. An error: it has not begun, and nothing of it is left, running or in the directory,
/// unless that has a job already. Call it while the process has a single thread: it forks the keeper.
Status startJob(const std::string& directory, const ::popdist::v1::StartRunner& order);

}  // namespace pop::runner
