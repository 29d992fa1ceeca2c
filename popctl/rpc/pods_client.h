// SPDX-License-Identifier: Apache-2.0
// What a server can be asked about partitions of IPUs, one blocking call each: V-IPU's own calls
// (proto/virmgrpc), which V-IPU's server answers as well, and those of popdistd alone
// (proto/popdist/v1/pods.proto), for which V-IPU's is kUnimplemented. Errors have the server's words;
// kUnavailable: it cannot be reached.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/status.h"
#include "popctl/rpc/server.h"
#include "proto/popdist/v1/pods.pb.h"
#include "proto/virmgrpc/version.pb.h"
#include "proto/virmgrpc/vipuuser.pb.h"

namespace pop::popctl {

namespace v1 = ::popdist::v1;

struct Connection;

/// From any thread.
class PodsClient {
 public:
  /// `timeout`: of each call but hold().
  PodsClient(Server server, std::chrono::milliseconds timeout);
  ~PodsClient();
  PodsClient(const PodsClient&) = delete;
  PodsClient& operator=(const PodsClient&) = delete;

  const Server& server() const;
  Connection& connection();
  std::chrono::milliseconds timeout() const { return timeout_; }

  /// For kUntilNextAttempt, or until more is known of a connection that is lost. From any thread.
  void waitForNextAttempt();

  // V-IPU's
  Result<virmgrpc::VersionReply> version();
  Result<virmgrpc::ListPartitionsReply> listPartitions(const virmgrpc::ListPartitionsRequest& request);
  Result<virmgrpc::ListIPUAttributesReply> listIpuAttributes(
      const virmgrpc::ListIPUAttributesRequest& request);
  Result<virmgrpc::CreatePartitionReply> createPartition(const virmgrpc::CreatePartitionRequest& request);
  Status removePartition(const virmgrpc::RemovePartitionRequest& request);
  Status resetPartition(const virmgrpc::ResetPartitionRequest& request);
  Result<virmgrpc::PartitionConfig> ipuofConfig(const virmgrpc::GetPartitionIpuofConfigRequest& request);
  Result<virmgrpc::PartitionStatus> partitionStatus(const std::string& partition);

  // popdistd's
  Result<v1::ClusterInfo> createCluster(const v1::ClusterInfo& cluster);
  Status removeCluster(const std::string& cluster);
  Result<v1::ListClustersReply> listClusters();
  Result<v1::AgentInfo> createAgent(const v1::AgentInfo& agent);
  Status removeAgent(const std::string& agent);
  Result<v1::ListAgentsReply> listAgents(const std::string& cluster);  ///< empty: of all
  Result<v1::AgentInfo> drainAgent(const v1::DrainAgentRequest& request);
  Result<v1::AgentInfo> resumeAgent(const std::string& agent);
  Result<v1::AllocationInfo> createAllocation(const v1::CreateAllocationRequest& request);
  Status removeAllocation(const std::string& allocation);
  Result<v1::ListAllocationsReply> listAllocations();
  Result<v1::ListPodPartitionsReply> listPodPartitions(const v1::ListPodPartitionsRequest& request);
  /// Nothing: the server is V-IPU's own, or there is no such partition.
  Result<std::optional<v1::PartitionInfo>> partitionInfo(const std::string& partition);
  Status releasePartition(const v1::ReleasePartitionRequest& request);

 private:
  struct Stubs;

  const std::unique_ptr<Stubs> stubs_;
  const std::chrono::milliseconds timeout_;
};

}  // namespace pop::popctl
