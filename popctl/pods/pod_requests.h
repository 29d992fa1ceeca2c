// SPDX-License-Identifier: Apache-2.0
// Requests of popctl's options to Pods, as messages, and the replies, as values. Values only.
#pragma once

#include <vector>

#include "common/base/status.h"
#include "popctl/command.h"
#include "popdistd/partitions/ipuof.h"
#include "proto/popdist/v1/pods.pb.h"
#include "proto/virmgrpc/vipuuser.pb.h"

namespace pop::popctl {

/// `create partition`, but for --index.
virmgrpc::CreatePartitionRequest createPartitionRequest(const Command& command);

/// --index: the IPUs [index * size, (index + 1) * size) of the cluster, one IPU-Link domain after the other.
/// kInvalidArgument: it has not as many.
Status nameIpus(std::uint32_t index, const v1::ClusterInfo& cluster,
                virmgrpc::PartitionRequirements& requirements);

v1::ClusterInfo clusterOf(const Command& command);

/// An agent without cluster and place gets the first one that is free in `cluster`. kFailedPrecondition:
/// there is none.
Result<v1::AgentInfo> agentOf(const Command& command, const v1::ClusterInfo& cluster,
                              const v1::ListAgentsReply& there);

v1::CreateAllocationRequest allocationRequest(const Command& command);

/// The cluster that is named or, if none is, the only one. kNotFound, kInvalidArgument: say which.
Result<v1::ClusterInfo> chosenCluster(const v1::ListClustersReply& clusters, const std::string& name);

std::vector<vipu::GcdConfig> gcdsOf(const virmgrpc::PartitionConfig& config);

}  // namespace pop::popctl
