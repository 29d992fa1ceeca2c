// SPDX-License-Identifier: Apache-2.0
#include "popdistd/access/guarded_pods.h"

#include "popdistd/access/pass_call.h"

namespace pop::popdistd {

void GuardedPods::createCluster(const Caller& caller, v1::ClusterInfo cluster, Reply<v1::ClusterInfo> reply) {
  passCall(guard_, "CreateCluster", inner_, &PodsApi::createCluster, caller, std::move(cluster),
           std::move(reply));
}

void GuardedPods::removeCluster(const Caller& caller, v1::ClusterRef cluster, Reply<v1::Nothing> reply) {
  passCall(guard_, "RemoveCluster", inner_, &PodsApi::removeCluster, caller, std::move(cluster),
           std::move(reply));
}

void GuardedPods::listClusters(const Caller& caller, v1::ListClustersRequest request,
                               Reply<v1::ListClustersReply> reply) {
  passCall(guard_, "ListClusters", inner_, &PodsApi::listClusters, caller, std::move(request),
           std::move(reply));
}

void GuardedPods::createAgent(const Caller& caller, v1::AgentInfo agent, Reply<v1::AgentInfo> reply) {
  passCall(guard_, "CreateAgent", inner_, &PodsApi::createAgent, caller, std::move(agent), std::move(reply));
}

void GuardedPods::removeAgent(const Caller& caller, v1::AgentRef agent, Reply<v1::Nothing> reply) {
  passCall(guard_, "RemoveAgent", inner_, &PodsApi::removeAgent, caller, std::move(agent), std::move(reply));
}

void GuardedPods::listAgents(const Caller& caller, v1::ListAgentsRequest request,
                             Reply<v1::ListAgentsReply> reply) {
  passCall(guard_, "ListAgents", inner_, &PodsApi::listAgents, caller, std::move(request), std::move(reply));
}

void GuardedPods::drainAgent(const Caller& caller, v1::DrainAgentRequest request,
                             Reply<v1::AgentInfo> reply) {
  passCall(guard_, "DrainAgent", inner_, &PodsApi::drainAgent, caller, std::move(request), std::move(reply));
}

void GuardedPods::resumeAgent(const Caller& caller, v1::AgentRef agent, Reply<v1::AgentInfo> reply) {
  passCall(guard_, "ResumeAgent", inner_, &PodsApi::resumeAgent, caller, std::move(agent), std::move(reply));
}

void GuardedPods::createAllocation(const Caller& caller, v1::CreateAllocationRequest request,
                                   Reply<v1::AllocationInfo> reply) {
  passCall(guard_, "CreateAllocation", inner_, &PodsApi::createAllocation, caller, std::move(request),
           std::move(reply));
}

void GuardedPods::removeAllocation(const Caller& caller, v1::AllocationRef allocation,
                                   Reply<v1::Nothing> reply) {
  passCall(guard_, "RemoveAllocation", inner_, &PodsApi::removeAllocation, caller, std::move(allocation),
           std::move(reply));
}

void GuardedPods::listAllocations(const Caller& caller, v1::ListAllocationsRequest request,
                                  Reply<v1::ListAllocationsReply> reply) {
  passCall(guard_, "ListAllocations", inner_, &PodsApi::listAllocations, caller, std::move(request),
           std::move(reply));
}

void GuardedPods::listPartitions(const Caller& caller, v1::ListPodPartitionsRequest request,
                                 Reply<v1::ListPodPartitionsReply> reply) {
  passCall(guard_, "ListPartitions", inner_, &PodsApi::listPartitions, caller, std::move(request),
           std::move(reply));
}

void GuardedPods::releasePartition(const Caller& caller, v1::ReleasePartitionRequest request,
                                   Reply<v1::Nothing> reply) {
  passCall(guard_, "ReleasePartition", inner_, &PodsApi::releasePartition, caller, std::move(request),
           std::move(reply));
}

Result<std::unique_ptr<Source<v1::HoldReply>>> GuardedPods::holdPartition(const Caller& caller,
                                                                          const v1::HoldRequest& request,
                                                                          Api::Ready ready) {
  const auto open = [&](Api::Ready told) { return inner_.holdPartition(caller, request, std::move(told)); };
  return guard_.open<v1::HoldReply>(caller, ruleOf("HoldPartition"), objectOf(request), ready, open);
}

void GuardedVipu::listPartitions(const Caller& caller, virmgrpc::ListPartitionsRequest request,
                                 Reply<virmgrpc::ListPartitionsReply> reply) {
  passCall(guard_, "ListPartitions", inner_, &VipuApi::listPartitions, caller, std::move(request),
           std::move(reply));
}

void GuardedVipu::listIpuAttributes(const Caller& caller, virmgrpc::ListIPUAttributesRequest request,
                                    Reply<virmgrpc::ListIPUAttributesReply> reply) {
  passCall(guard_, "ListIPUAttributes", inner_, &VipuApi::listIpuAttributes, caller, std::move(request),
           std::move(reply));
}

void GuardedVipu::createPartition(const Caller& caller, virmgrpc::CreatePartitionRequest request,
                                  Reply<virmgrpc::CreatePartitionReply> reply) {
  passCall(guard_, "CreatePartition", inner_, &VipuApi::createPartition, caller, std::move(request),
           std::move(reply));
}

void GuardedVipu::removePartition(const Caller& caller, virmgrpc::RemovePartitionRequest request,
                                  Reply<virmgrpc::RemovePartitionReply> reply) {
  passCall(guard_, "RemovePartition", inner_, &VipuApi::removePartition, caller, std::move(request),
           std::move(reply));
}

void GuardedVipu::resetPartition(const Caller& caller, virmgrpc::ResetPartitionRequest request,
                                 Reply<virmgrpc::ResetPartitionReply> reply) {
  passCall(guard_, "ResetPartition", inner_, &VipuApi::resetPartition, caller, std::move(request),
           std::move(reply));
}

void GuardedVipu::getPartitionIpuofConfig(const Caller& caller,
                                          virmgrpc::GetPartitionIpuofConfigRequest request,
                                          Reply<virmgrpc::GetPartitionIpuofConfigReply> reply) {
  passCall(guard_, "GetPartitionIpuofConfig", inner_, &VipuApi::getPartitionIpuofConfig, caller,
           std::move(request), std::move(reply));
}

void GuardedVipu::getPartitionStatus(const Caller& caller, virmgrpc::GetPartitionStatusRequest request,
                                     Reply<virmgrpc::GetPartitionStatusReply> reply) {
  passCall(guard_, "GetPartitionStatus", inner_, &VipuApi::getPartitionStatus, caller, std::move(request),
           std::move(reply));
}

void GuardedVipu::getVersion(const Caller& caller, virmgrpc::VersionRequest request,
                             Reply<virmgrpc::VersionReply> reply) {
  passCall(guard_, "GetVersion", inner_, &VipuApi::getVersion, caller, std::move(request), std::move(reply));
}

}  // namespace pop::popdistd
