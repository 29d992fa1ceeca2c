// SPDX-License-Identifier: Apache-2.0
// Waits for what a server does with a partition: it answers before the IPUs are configured. Blocking.
#pragma once

#include <chrono>
#include <string>

#include "common/base/status.h"
#include "popctl/rpc/pods_client.h"

namespace pop::popctl {

using Deadline = std::chrono::steady_clock::time_point;

/// Until it can be used. kFailedPrecondition: its IPUs could not be configured; kDeadlineExceeded: not yet;
/// kNotFound: a user has removed it.
Status waitUntilActive(PodsClient& client, const std::string& partition, Deadline deadline);

/// Until there is none. kFailedPrecondition: its end cannot be proved; kDeadlineExceeded: it is still there.
Status waitUntilGone(PodsClient& client, const std::string& partition, Deadline deadline);

/// Until `holder` has it no longer; the server hears of a hold's end a moment after it. kDeadlineExceeded: it
/// still has. At once with V-IPU's server, where nobody holds one.
Status waitUntilLetGo(PodsClient& client, const std::string& partition, const std::string& holder,
                      Deadline deadline);

}  // namespace pop::popctl
