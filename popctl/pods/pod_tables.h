// SPDX-License-Identifier: Apache-2.0
// Partitions and what they are made from as V-IPU's programs print them: the tables that scripts take apart,
// and the JSON of `vipu-cli --showjson`.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"
#include "proto/popdist/v1/pods.pb.h"
#include "proto/virmgrpc/vipuuser.pb.h"

namespace pop::popctl {

namespace v1 = ::popdist::v1;

std::string partitionsTable(const virmgrpc::ListPartitionsReply& reply);
std::string allocationsTable(const v1::ListAllocationsReply& reply);
std::string clustersTable(const v1::ListClustersReply& reply);
std::string agentsTable(const v1::ListAgentsReply& reply);
std::string ipuAttributesTable(const virmgrpc::ListIPUAttributesReply& reply);

/// All that is known of one. `info`: what popdistd alone knows; null: another's server.
std::string partitionTable(const virmgrpc::Partition& partition, const virmgrpc::PartitionStatus& status,
                           const v1::PartitionInfo* info);

/// "ACTIVE", "PENDING/CREATING".
std::string stateText(const virmgrpc::PartitionStatus& status);

/// An array, whose elements have each partition as "partition".
Result<std::string> vipuJson(const virmgrpc::ListPartitionsReply& reply);
/// An array of clusters, with the IPUs of each IPU-Link domain.
std::string vipuJson(const v1::ListClustersReply& clusters, const v1::ListAgentsReply& agents);

}  // namespace pop::popctl
