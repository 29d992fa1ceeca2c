// SPDX-License-Identifier: Apache-2.0
// popctl's commands on users, tokens and the audit log. Returns popctl's exit code.
#pragma once

#include "popctl/command.h"
#include "popctl/rpc/access_client.h"

namespace pop::popctl {

int askOfAccess(const Command& command, AccessClient& client);

}  // namespace pop::popctl
