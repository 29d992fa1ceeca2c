// SPDX-License-Identifier: Apache-2.0
// Calls that outlive a connection: what has been lost is asked for again.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "popctl/rpc/controller_client.h"

namespace pop::popctl {

/// Calls `attempt` until it does not fail for the connection's sake, or has for too long: its last status.
/// `attempt` tells by its argument that something has come. Blocks.
Status withReconnects(ControllerClient& client,
                      const std::function<Status(const std::function<void()>& received)>& attempt);

/// Passes on what changes, after all there is, in the order of the server; after a lost connection from there
/// on. Blocks until `each` returns false (kOk), `until` has passed (kDeadlineExceeded), or an error.
Status followChanges(ControllerClient& client, const std::function<bool(const v1::Change&)>& each,
                     Until until = std::nullopt);

/// The job once it has ended. `timeout`: kDeadlineExceeded then.
Result<v1::JobInfo> waitForEnd(ControllerClient& client, const v1::JobRef& job,
                               std::optional<std::chrono::milliseconds> timeout);

}  // namespace pop::popctl
