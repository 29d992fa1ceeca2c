// SPDX-License-Identifier: Apache-2.0
// popctl's commands on partitions and their parts. Returns popctl's exit code.
#pragma once

#include "popctl/command.h"
#include "popctl/rpc/pods_client.h"

namespace pop::popctl {

int askOfPods(const Command& command, PodsClient& client);

/// create, get, reset, remove and release partition.
int askOfPartition(const Command& command, PodsClient& client);

}  // namespace pop::popctl
