// SPDX-License-Identifier: Apache-2.0
// Collectives that reduce nothing, and have no ring of their own.
#pragma once

#include "pod/collectives/replica_group.h"
#include "pod/collectives/schedule.h"

namespace pop::pod {

/// Each place sends each other one its part of the vector: a transfer's block is the receiver's place, and is
/// left where the sender's place says. In `group.size` - 1 rounds, to the place one further in each; or
/// `direct`, all at once.
Schedule allToAll(int replicas, ReplicaGroup group, bool direct);

/// The broadcast that sends each place its part from `root` first, and gathers all parts then.
Schedule broadcast(Schedule all_gather, ReplicaGroup group, int root);

/// The broadcast that sends all from `root` to each other place, in one round.
Schedule directBroadcast(int replicas, ReplicaGroup group, int root);

}  // namespace pop::pod
