// SPDX-License-Identifier: Apache-2.0
// What popctl's commands on partitions and on what they are made from do. Returns popctl's exit code.
#pragma once

#include "popctl/command.h"
#include "popctl/rpc/pods_client.h"

namespace pop::popctl {

int askOfPods(const Command& command, PodsClient& client);

/// create, get, reset, remove and release partition.
int askOfPartition(const Command& command, PodsClient& client);

}  // namespace pop::popctl
