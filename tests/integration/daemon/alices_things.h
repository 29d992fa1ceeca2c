// SPDX-License-Identifier: Apache-2.0
// Alice's things at popdistd, an admin's gifts to her, and a host: objects that are not an attacker's.
#pragma once

#include <google/protobuf/message.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include "proto/popdist/v1/access.grpc.pb.h"
#include "proto/popdist/v1/controller.grpc.pb.h"
#include "proto/popdist/v1/host.grpc.pb.h"
#include "proto/popdist/v1/pods.grpc.pb.h"
#include "proto/virmgrpc/vipuuser.grpc.pb.h"
#include "tests/integration/daemon/host_join.h"

namespace pop::testing {

namespace v1 = ::popdist::v1;

class AlicesThings {
 public:
  using Channel = std::shared_ptr<grpc::Channel>;

  AlicesThings(const Channel& root, const Channel& alice, const Channel& h0)
      : pods_(v1::Pods::NewStub(root)),
        access_(v1::Access::NewStub(root)),
        controller_(v1::Controller::NewStub(root)),
        alices_access_(v1::Access::NewStub(alice)),
        alices_vipu_(virmgrpc::UserService::NewStub(alice)),
        hosts_(v1::Hosts::NewStub(h0)) {}

  /// Makes what is not there, or not any more.
  void make() {
    makeUser();
    makePod();
    EXPECT_TRUE(joinsOnce(*hosts_, "h0"));
    names_ = {{"popdist.v1.HostRef.name", "h0"},
              {"popdist.v1.ClusterRef.id", "c"},
              {"popdist.v1.AgentRef.id", "m0"},
              {"popdist.v1.AllocationRef.id", "alices"},
              {"popdist.v1.UserRef.name", "alice"},
              {"popdist.v1.TokenRef.id", tokenOf()},
              {"popdist.v1.QuotaRef.name", "alice"},
              {"popdist.v1.CreateTokenRequest.user", "alice"},
              {"popdist.v1.ListAgentsRequest.cluster", "c"},
              {"popdist.v1.ListPodPartitionsRequest.allocation", "alices"},
              {"popdist.v1.ReleasePartitionRequest.partition", "secret"},
              {"popdist.v1.HoldRequest.partition", "secret"},
              {"popdist.v1.HoldRequest.holder", "an attacker"},
              {"popdist.v1.HoldRequest.token", "0123456789abcdef"},
              {"popdist.v1.DrainRequest.reason", "an attack"},
              {"popdist.v1.DrainAgentRequest.reason", "an attack"},
              {"virmgrpc.ListPartitionsRequest.allocation_id", "alices"},
              {"virmgrpc.RemovePartitionRequest.partition_id", "secret"},
              {"virmgrpc.ResetPartitionRequest.partition_id", "secret"},
              {"virmgrpc.GetPartitionIpuofConfigRequest.partition_id", "secret"},
              {"virmgrpc.GetPartitionStatusRequest.partition_id", "secret"}};
  }

  /// Names one in the request, wherever that has a place for one. False: it has none.
  bool nameIn(google::protobuf::Message& request, int depth = 3) const {
    const auto& type = *request.GetDescriptor();
    const auto& reflection = *request.GetReflection();
    bool is_named = false;
    for (int i = 0; i < type.field_count(); ++i) {
      const google::protobuf::FieldDescriptor& field = *type.field(i);
      if (field.is_repeated()) continue;
      if (const auto name = names_.find(field.full_name()); name != names_.end()) {
        reflection.SetString(&request, &field, name->second);
        is_named = true;
      } else if (field.message_type() != nullptr && depth > 0) {
        const std::unique_ptr<google::protobuf::Message> inner(reflection.GetMessage(request, &field).New());
        if (!nameIn(*inner, depth - 1)) continue;
        reflection.MutableMessage(&request, &field)->CopyFrom(*inner);
        is_named = true;
      }
    }
    return is_named;
  }

  /// Callers who may not use these are not told that they are there.
  static bool areHiddenBy(const std::string& method) {
    static const std::set<std::string> all{"popdist.v1.Pods.ListAgents",
                                           "popdist.v1.Pods.ListPartitions",
                                           "popdist.v1.Pods.HoldPartition",
                                           "popdist.v1.Access.CreateToken",
                                           "popdist.v1.Access.RemoveToken",
                                           "virmgrpc.UserService.ListPartitions",
                                           "virmgrpc.UserService.RemovePartition",
                                           "virmgrpc.UserService.ResetPartition",
                                           "virmgrpc.UserService.GetPartitionIpuofConfig",
                                           "virmgrpc.UserService.GetPartitionStatus"};
    return all.contains(method);
  }

  /// All of it, as bytes to be compared.
  std::map<std::string, std::string> state() {
    v1::HostRef h0;
    h0.set_name("h0");
    const auto host = ask<v1::HostInfo>(*controller_, &v1::Controller::Stub::GetHost, h0);
    std::map<std::string, std::string> all{{"h0", host.name() + host.drain_reason()}};
    const auto list = [&all]<typename Reply, typename Stub, typename Request>(
                          const std::string& what, Stub& stub,
                          grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*)) {
      all[what] = ask<Reply>(stub, method, Request()).SerializeAsString();
    };
    list("allocations", *pods_, &v1::Pods::Stub::ListAllocations);
    list("agents", *pods_, &v1::Pods::Stub::ListAgents);
    list("users", *access_, &v1::Access::Stub::ListUsers);
    list("tokens", *alices_access_, &v1::Access::Stub::ListTokens);
    const auto pods = ask<v1::ListPodPartitionsReply>(*pods_, &v1::Pods::Stub::ListPartitions,
                                                      v1::ListPodPartitionsRequest());
    for (const v1::PartitionInfo& each : pods.partitions()) all["partitions"] += each.SerializeAsString();
    return all;
  }

 private:
  template <typename Reply, typename Stub, typename Request>
  static Reply ask(Stub& stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                   const Request& request, grpc::StatusCode otherwise = grpc::StatusCode::OK) {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
    Reply reply;
    const grpc::Status done = (stub.*method)(&context, request, &reply);
    EXPECT_TRUE(done.ok() || done.error_code() == otherwise)
        << request.GetTypeName() << ": " << done.error_message();
    return reply;
  }

  void makeUser() {
    v1::CreateUserRequest alice;
    alice.set_name("alice");
    alice.set_role(v1::ROLE_SUBMIT);
    ask<v1::CreateUserReply>(*access_, &v1::Access::Stub::CreateUser, alice);
    v1::QuotaInfo quota;
    quota.mutable_of()->set_name("alice");
    quota.set_instances(64);
    ask<v1::QuotaInfo>(*controller_, &v1::Controller::Stub::SetQuota, quota);
  }

  std::string tokenOf() {
    const auto list =
        ask<v1::ListTokensReply>(*alices_access_, &v1::Access::Stub::ListTokens, v1::ListTokensRequest());
    if (list.tokens_size() > 0) return list.tokens(0).id();
    return ask<v1::CreateTokenReply>(*alices_access_, &v1::Access::Stub::CreateToken,
                                     v1::CreateTokenRequest())
        .token()
        .id();
  }

  void makePod() {
    constexpr auto kThere = grpc::StatusCode::ALREADY_EXISTS;
    v1::ClusterInfo cluster;
    cluster.set_id("c");
    ask<v1::ClusterInfo>(*pods_, &v1::Pods::Stub::CreateCluster, cluster, kThere);
    v1::AgentInfo agent;
    agent.set_id("m0");
    agent.set_cluster("c");
    agent.set_ip("127.0.0.1");
    ask<v1::AgentInfo>(*pods_, &v1::Pods::Stub::CreateAgent, agent, kThere);
    v1::AgentRef m0;
    m0.set_id("m0");
    ask<v1::AgentInfo>(*pods_, &v1::Pods::Stub::ResumeAgent, m0);
    v1::CreateAllocationRequest allocation;
    allocation.mutable_allocation()->set_id("alices");
    allocation.mutable_allocation()->set_cluster("c");
    allocation.mutable_allocation()->add_agents("m0");
    allocation.mutable_allocation()->add_users("alice");
    ask<v1::AllocationInfo>(*pods_, &v1::Pods::Stub::CreateAllocation, allocation, kThere);
    virmgrpc::CreatePartitionRequest partition;
    partition.mutable_requirements()->set_id("secret");
    partition.mutable_requirements()->set_size(4);
    ask<virmgrpc::CreatePartitionReply>(*alices_vipu_, &virmgrpc::UserService::Stub::CreatePartition,
                                        partition, kThere);
  }

  const std::unique_ptr<v1::Pods::Stub> pods_;
  const std::unique_ptr<v1::Access::Stub> access_;
  const std::unique_ptr<v1::Controller::Stub> controller_;
  const std::unique_ptr<v1::Access::Stub> alices_access_;
  const std::unique_ptr<virmgrpc::UserService::Stub> alices_vipu_;
  const std::unique_ptr<v1::Hosts::Stub> hosts_;
  std::map<std::string, std::string> names_;  ///< by the field that has it
};

}  // namespace pop::testing
