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

/// Calls without a member of their own are answered with the request's thing, from proto/calls.
class PlainPodsApi : public popdistd::PodsApi, public FakeAnswers {
 public:
#define CALL(Name, member, Request, Answer, ...)                                             \
  void member(const Caller& caller, v1::Request request, Reply<v1::Answer> reply) override { \
    answer(caller, #member, request, reply);                                                 \
  }
#include "proto/calls/pods.def"
};

class FakePodsApi final : public PlainPodsApi {
 public:
  Feed<v1::HoldReply> holds;
  std::vector<v1::HoldRequest> hold_requests;

  void listClusters(const Caller& caller, v1::ListClustersRequest request,
                    Reply<v1::ListClustersReply> reply) override {
    v1::ListClustersReply list;
    list.add_clusters()->set_id("c");
    answer(caller, "listClusters", request, list, reply);
  }
  void listAgents(const Caller& caller, v1::ListAgentsRequest request,
                  Reply<v1::ListAgentsReply> reply) override {
    v1::ListAgentsReply list;
    list.add_agents()->set_cluster(request.cluster());
    answer(caller, "listAgents", request, list, reply);
  }
  void drainAgent(const Caller& caller, v1::DrainAgentRequest request, Reply<v1::AgentInfo> reply) override {
    v1::AgentInfo agent;
    agent.set_id(request.agent().id());
    agent.set_drain_reason(request.reason());
    answer(caller, "drainAgent", request, agent, reply);
  }
  void listAllocations(const Caller& caller, v1::ListAllocationsRequest request,
                       Reply<v1::ListAllocationsReply> reply) override {
    v1::ListAllocationsReply list;
    list.add_allocations()->mutable_capacity()->set_free(64);
    answer(caller, "listAllocations", request, list, reply);
  }
  void listPartitions(const Caller& caller, v1::ListPodPartitionsRequest request,
                      Reply<v1::ListPodPartitionsReply> reply) override {
    v1::ListPodPartitionsReply list;
    v1::PartitionInfo& partition = *list.add_partitions();
    partition.set_id("p16");
    partition.set_allocation(request.allocation());
    partition.set_owner(request.owner());
    partition.set_state(v1::PARTITION_ACTIVE);
    partition.set_size(16);
    partition.set_num_replicas(4);
    list.set_revision(12);
    answer(caller, "listPartitions", request, list, reply);
  }
  Result<std::unique_ptr<popdistd::Source<v1::HoldReply>>> holdPartition(
      const Caller&, const v1::HoldRequest& request, popdistd::Api::Ready ready) override {
    hold_requests.push_back(request);
    if (refusal) return *refusal;
    return holds.open(0, std::move(ready));
  }
};

/// Likewise.
class PlainVipuApi : public popdistd::VipuApi, public FakeAnswers {
 public:
#define CALL(Name, member, Request, Answer, ...)                                                         \
  void member(const Caller& caller, virmgrpc::Request request, Reply<virmgrpc::Answer> reply) override { \
    answer(caller, #member, request, reply);                                                             \
  }
#include "proto/calls/vipu.def"
};

class FakeVipuApi final : public PlainVipuApi {
 public:
  void listPartitions(const Caller& caller, virmgrpc::ListPartitionsRequest request,
                      Reply<virmgrpc::ListPartitionsReply> reply) override {
    virmgrpc::ListPartitionsReply list;
    list.add_partitions()->set_id("p16");
    answer(caller, "listPartitions", request, list, reply);
  }
  void listIpuAttributes(const Caller& caller, virmgrpc::ListIPUAttributesRequest request,
                         Reply<virmgrpc::ListIPUAttributesReply> reply) override {
    virmgrpc::ListIPUAttributesReply list;
    for (const std::string& agent : request.agents()) list.add_entries()->set_agent(agent);
    answer(caller, "listIpuAttributes", request, list, reply);
  }
  void getPartitionIpuofConfig(const Caller& caller, virmgrpc::GetPartitionIpuofConfigRequest request,
                               Reply<virmgrpc::GetPartitionIpuofConfigReply> reply) override {
    virmgrpc::GetPartitionIpuofConfigReply config;
    config.mutable_ipuof_config()->add_gcd_configs()->add_devices()->set_ip("10.0.0.7");
    answer(caller, "getPartitionIpuofConfig", request, config, reply);
  }
  void getPartitionStatus(const Caller& caller, virmgrpc::GetPartitionStatusRequest request,
                          Reply<virmgrpc::GetPartitionStatusReply> reply) override {
    virmgrpc::GetPartitionStatusReply status;
    status.mutable_status()->set_ready_state(virmgrpc::PS_ACTIVE);
    answer(caller, "getPartitionStatus", request, status, reply);
  }
  void getVersion(const Caller& caller, virmgrpc::VersionRequest request,
                  Reply<virmgrpc::VersionReply> reply) override {
    virmgrpc::VersionReply version;
    version.set_version("1.2.3");
    answer(caller, "getVersion", request, version, reply);
  }
};

}  // namespace pop::testing
