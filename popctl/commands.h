// SPDX-License-Identifier: Apache-2.0
// popctl's commands. Each returns popctl's exit code.
#pragma once

#include "popctl/command.h"
#include "popctl/rpc/controller_client.h"

namespace pop::popctl {

/// Those that ask once: get, cancel, signal, hold, release, forget, drain, resume, remove, about, check.
int askOnce(const Command& command, ControllerClient& client);

int listJobs(const Command& command, ControllerClient& client);
int listHosts(const Command& command, ControllerClient& client);
int top(const Command& command, ControllerClient& client);

/// Sets, lists or removes quotas.
int askOfQuotas(const Command& command, ControllerClient& client);

/// Returns when the job has ended, with its exit code.
int waitJob(const Command& command, ControllerClient& client);

/// Writes the file whole, or not at all.
int backup(const Command& command, ControllerClient& client);

}  // namespace pop::popctl
