// SPDX-License-Identifier: Apache-2.0
// PodsApi and VipuApi behind the guard.
#pragma once

#include "popdistd/access/guard.h"
#include "popdistd/api/pods_api.h"
#include "popdistd/api/vipu_api.h"

namespace pop::popdistd {

class GuardedPods final : public PodsApi {
 public:
  /// Both outlive the object.
  GuardedPods(PodsApi& inner, Audit& audit, Today today = nullptr)
      : inner_(inner), guard_(audit, std::move(today)) {}

  void createCluster(const Caller& caller, v1::ClusterInfo cluster, Reply<v1::ClusterInfo> reply) override;
  void removeCluster(const Caller& caller, v1::ClusterRef cluster, Reply<v1::Nothing> reply) override;
  void listClusters(const Caller& caller, v1::ListClustersRequest request,
                    Reply<v1::ListClustersReply> reply) override;
  void createAgent(const Caller& caller, v1::AgentInfo agent, Reply<v1::AgentInfo> reply) override;
  void removeAgent(const Caller& caller, v1::AgentRef agent, Reply<v1::Nothing> reply) override;
  void listAgents(const Caller& caller, v1::ListAgentsRequest request,
                  Reply<v1::ListAgentsReply> reply) override;
  void drainAgent(const Caller& caller, v1::DrainAgentRequest request, Reply<v1::AgentInfo> reply) override;
  void resumeAgent(const Caller& caller, v1::AgentRef agent, Reply<v1::AgentInfo> reply) override;
  void createAllocation(const Caller& caller, v1::CreateAllocationRequest request,
                        Reply<v1::AllocationInfo> reply) override;
  void removeAllocation(const Caller& caller, v1::AllocationRef allocation,
                        Reply<v1::Nothing> reply) override;
  void listAllocations(const Caller& caller, v1::ListAllocationsRequest request,
                       Reply<v1::ListAllocationsReply> reply) override;
  void listPartitions(const Caller& caller, v1::ListPodPartitionsRequest request,
                      Reply<v1::ListPodPartitionsReply> reply) override;
  void releasePartition(const Caller& caller, v1::ReleasePartitionRequest request,
                        Reply<v1::Nothing> reply) override;
  Result<std::unique_ptr<Source<v1::HoldReply>>> holdPartition(const Caller& caller,
                                                               const v1::HoldRequest& request,
                                                               Api::Ready ready) override;

  /// See Guard.
  void look() { guard_.look(); }

 private:
  PodsApi& inner_;
  Guard guard_;
};

class GuardedVipu final : public VipuApi {
 public:
  /// Both outlive the object.
  GuardedVipu(VipuApi& inner, Audit& audit, Today today = nullptr)
      : inner_(inner), guard_(audit, std::move(today)) {}

  void listPartitions(const Caller& caller, virmgrpc::ListPartitionsRequest request,
                      Reply<virmgrpc::ListPartitionsReply> reply) override;
  void listIpuAttributes(const Caller& caller, virmgrpc::ListIPUAttributesRequest request,
                         Reply<virmgrpc::ListIPUAttributesReply> reply) override;
  void createPartition(const Caller& caller, virmgrpc::CreatePartitionRequest request,
                       Reply<virmgrpc::CreatePartitionReply> reply) override;
  void removePartition(const Caller& caller, virmgrpc::RemovePartitionRequest request,
                       Reply<virmgrpc::RemovePartitionReply> reply) override;
  void resetPartition(const Caller& caller, virmgrpc::ResetPartitionRequest request,
                      Reply<virmgrpc::ResetPartitionReply> reply) override;
  void getPartitionIpuofConfig(const Caller& caller, virmgrpc::GetPartitionIpuofConfigRequest request,
                               Reply<virmgrpc::GetPartitionIpuofConfigReply> reply) override;
  void getPartitionStatus(const Caller& caller, virmgrpc::GetPartitionStatusRequest request,
                          Reply<virmgrpc::GetPartitionStatusReply> reply) override;
  void getVersion(const Caller& caller, virmgrpc::VersionRequest request,
                  Reply<virmgrpc::VersionReply> reply) override;

 private:
  VipuApi& inner_;
  Guard guard_;
};

}  // namespace pop::popdistd
