// SPDX-License-Identifier: Apache-2.0
// Starts jobs. poprun's options make the job, so `popctl submit job` is poprun --controller; that hands what
// is to be submitted back to popctl as `popctl submit request`.
#pragma once

#include "popctl/command.h"
#include "popctl/rpc/controller_client.h"
#include "popctl/settings.h"

namespace pop::popctl {

/// Replaces this process by poprun. Returns only on failure.
int submitJob(const Command& command, const ServerSettings& server);

/// The words with which popctl's own settings come back to it through poprun's environment; none: it was
/// called by poprun. Removes them there.
std::vector<std::string> wordsFromPopctl();

/// Submits what is in the descriptor, prints the job's number, or shows the job. After a lost connection
/// submits it again, which its request id makes safe.
int submitRequest(const Command& command, ControllerClient& client);

/// The exit code of a mistake, as whoever has called this expects it: poprun's own, or popctl's.
int exitCodeForCaller(const Command& command, int exit_code);

}  // namespace pop::popctl
