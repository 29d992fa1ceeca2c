// SPDX-License-Identifier: Apache-2.0
// A small daemon's Pods without IPUs, for tests of what carries their interfaces. All of it on the loop's
// thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "popdistd/api/pods_api.h"
#include "popdistd/api/vipu_api.h"
#include "tests/testing/fake_api.h"

namespace pop::testing {

/// The calls so far, and one answer to all of them.
struct FakeAnswers {
  std::vector<std::string> calls;  ///< "alice createCluster c"
  std::optional<Status> refusal;

  template <typename T>
  void answer(const Caller& caller, const std::string& what, T message, const Reply<T>& reply) {
    calls.push_back(caller.user + ' ' + what);
    refusal ? reply(*refusal) : reply(std::move(message));
  }
};

class FakePodsApi final : public popdistd::PodsApi, public FakeAnswers {
 public:
  Feed<v1::HoldReply> holds;
  std::vector<v1::HoldRequest> hold_requests;

  void createCluster(const Caller& caller, v1::ClusterInfo cluster, Reply<v1::ClusterInfo> reply) override {
    answer(caller, "createCluster " + cluster.id(), cluster, reply);
  }
  void removeCluster(const Caller& caller, v1::ClusterRef cluster, Reply<v1::Nothing> reply) override {
    answer(caller, "removeCluster " + cluster.id(), v1::Nothing(), reply);
  }
  void listClusters(const Caller& caller, v1::ListClustersRequest,
                    Reply<v1::ListClustersReply> reply) override {
    v1::ListClustersReply list;
    list.add_clusters()->set_id("c");
    answer(caller, "listClusters", list, reply);
  }
  void createAgent(const Caller& caller, v1::AgentInfo agent, Reply<v1::AgentInfo> reply) override {
    answer(caller, "createAgent " + agent.id(), agent, reply);
  }
  void removeAgent(const Caller& caller, v1::AgentRef agent, Reply<v1::Nothing> reply) override {
    answer(caller, "removeAgent " + agent.id(), v1::Nothing(), reply);
  }
  void listAgents(const Caller& caller, v1::ListAgentsRequest request,
                  Reply<v1::ListAgentsReply> reply) override {
    v1::ListAgentsReply list;
    list.add_agents()->set_cluster(request.cluster());
    answer(caller, "listAgents " + request.cluster(), list, reply);
  }
  void drainAgent(const Caller& caller, v1::DrainAgentRequest request, Reply<v1::AgentInfo> reply) override {
    v1::AgentInfo agent;
    agent.set_id(request.agent().id());
    agent.set_drain_reason(request.reason());
    answer(caller, "drainAgent " + request.agent().id(), agent, reply);
  }
  void resumeAgent(const Caller& caller, v1::AgentRef ref, Reply<v1::AgentInfo> reply) override {
    v1::AgentInfo agent;
    agent.set_id(ref.id());
    answer(caller, "resumeAgent " + ref.id(), agent, reply);
  }
  void createAllocation(const Caller& caller, v1::CreateAllocationRequest request,
                        Reply<v1::AllocationInfo> reply) override {
    answer(caller, "createAllocation " + request.allocation().id(), request.allocation(), reply);
  }
  void removeAllocation(const Caller& caller, v1::AllocationRef allocation,
                        Reply<v1::Nothing> reply) override {
    answer(caller, "removeAllocation " + allocation.id(), v1::Nothing(), reply);
  }
  void listAllocations(const Caller& caller, v1::ListAllocationsRequest,
                       Reply<v1::ListAllocationsReply> reply) override {
    v1::ListAllocationsReply list;
    list.add_allocations()->mutable_capacity()->set_free(64);
    answer(caller, "listAllocations", list, reply);
  }
  void listPartitions(const Caller& caller, v1::ListPodPartitionsRequest request,
                      Reply<v1::ListPodPartitionsReply> reply) override {
    v1::ListPodPartitionsReply list;
    v1::PartitionInfo& partition = *list.add_partitions();
    partition.set_id("p16");
    partition.set_allocation(request.allocation());
    partition.set_state(v1::PARTITION_ACTIVE);
    list.set_revision(12);
    answer(caller, "listPartitions " + request.allocation() + ',' + request.owner(), list, reply);
  }
  void releasePartition(const Caller& caller, v1::ReleasePartitionRequest request,
                        Reply<v1::Nothing> reply) override {
    answer(caller, "releasePartition " + request.partition(), v1::Nothing(), reply);
  }
  Result<std::unique_ptr<popdistd::Source<v1::HoldReply>>> holdPartition(
      const Caller&, const v1::HoldRequest& request, popdistd::Api::Ready ready) override {
    hold_requests.push_back(request);
    if (refusal) return *refusal;
    return holds.open(0, std::move(ready));
  }
};

class FakeVipuApi final : public popdistd::VipuApi, public FakeAnswers {
 public:
  void listPartitions(const Caller& caller, virmgrpc::ListPartitionsRequest request,
                      Reply<virmgrpc::ListPartitionsReply> reply) override {
    virmgrpc::ListPartitionsReply list;
    list.add_partitions()->set_id("p16");
    answer(caller, "listPartitions " + request.allocation_id(), list, reply);
  }
  void listIpuAttributes(const Caller& caller, virmgrpc::ListIPUAttributesRequest request,
                         Reply<virmgrpc::ListIPUAttributesReply> reply) override {
    virmgrpc::ListIPUAttributesReply list;
    for (const std::string& agent : request.agents()) list.add_entries()->set_agent(agent);
    answer(caller, "listIpuAttributes", list, reply);
  }
  void createPartition(const Caller& caller, virmgrpc::CreatePartitionRequest request,
                       Reply<virmgrpc::CreatePartitionReply> reply) override {
    virmgrpc::CreatePartitionReply created;
    created.set_partition_id(request.requirements().id());
    answer(caller, "createPartition " + request.requirements().id(), created, reply);
  }
  void removePartition(const Caller& caller, virmgrpc::RemovePartitionRequest request,
                       Reply<virmgrpc::RemovePartitionReply> reply) override {
    answer(caller, "removePartition " + request.partition_id(), virmgrpc::RemovePartitionReply(), reply);
  }
  void resetPartition(const Caller& caller, virmgrpc::ResetPartitionRequest request,
                      Reply<virmgrpc::ResetPartitionReply> reply) override {
    answer(caller, "resetPartition " + request.partition_id(), virmgrpc::ResetPartitionReply(), reply);
  }
  void getPartitionIpuofConfig(const Caller& caller, virmgrpc::GetPartitionIpuofConfigRequest request,
                               Reply<virmgrpc::GetPartitionIpuofConfigReply> reply) override {
    virmgrpc::GetPartitionIpuofConfigReply config;
    config.mutable_ipuof_config()->add_gcd_configs()->add_devices()->set_ip("10.0.0.7");
    answer(caller, "getPartitionIpuofConfig " + request.partition_id(), config, reply);
  }
  void getPartitionStatus(const Caller& caller, virmgrpc::GetPartitionStatusRequest request,
                          Reply<virmgrpc::GetPartitionStatusReply> reply) override {
    virmgrpc::GetPartitionStatusReply status;
    status.mutable_status()->set_ready_state(virmgrpc::PS_ACTIVE);
    answer(caller, "getPartitionStatus " + request.partition_id(), status, reply);
  }
  void getVersion(const Caller& caller, virmgrpc::VersionRequest,
                  Reply<virmgrpc::VersionReply> reply) override {
    virmgrpc::VersionReply version;
    version.set_version("1.2.3");
    answer(caller, "getVersion", version, reply);
  }
};

}  // namespace pop::testing
