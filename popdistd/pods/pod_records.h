// SPDX-License-Identifier: Apache-2.0
// Clusters, agents, allocations and partitions as messages of the API, and as the records that the store
// keeps. What is read of a store may be anything: kDataLoss says what cannot be.
#pragma once

#include <string_view>

#include "common/base/status.h"
#include "popdistd/common/store.h"
#include "popdistd/common/wall_clock.h"
#include "popdistd/partitions/partition_table.h"
#include "proto/popdist/v1/pods.pb.h"

namespace pop::popdistd {

vipu::Time timeOf(const WallClock& clock);

// ---- messages of the API; kInvalidArgument: an enum has a value that there is not

Result<vipu::Cluster> clusterOf(const v1::ClusterInfo& message);
v1::ClusterInfo messageOf(const vipu::Cluster& cluster);
/// The caller's description of the machine: without whether it is drained or lost.
vipu::Agent agentOf(const v1::AgentInfo& message);
v1::AgentInfo messageOf(const vipu::Agent& agent);
vipu::Allocation allocationOf(const v1::AllocationInfo& message);
v1::AllocationInfo messageOf(const vipu::Allocation& allocation);
v1::Capacity messageOf(const vipu::Capacity& capacity);
/// Without its revision and hosts.
v1::PartitionInfo messageOf(const vipu::Partition& partition);

// ---- records

std::string recordOf(const vipu::Partition& partition);
Result<vipu::Partition> partitionOf(const StoredPartition& stored);

/// By cluster, domain and number, as the store has them.
std::vector<IpuKey> ipuKeysOf(const vipu::Partition& partition);

}  // namespace pop::popdistd
