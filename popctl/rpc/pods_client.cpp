// SPDX-License-Identifier: Apache-2.0
#include "popctl/rpc/pods_client.h"

#include <grpcpp/client_context.h>

#include <utility>

#include "popctl/rpc/all_pages.h"
#include "popctl/rpc/connection.h"
#include "popctl/rpc/reconnects.h"
#include "proto/popdist/v1/pods.grpc.pb.h"
#include "proto/virmgrpc/version.grpc.pb.h"
#include "proto/virmgrpc/vipuuser.grpc.pb.h"

namespace pop::popctl {

struct PodsClient::Stubs {
  explicit Stubs(Server server)
      : connection(std::move(server)),
        pods(v1::Pods::NewStub(connection.channel)),
        user(virmgrpc::UserService::NewStub(connection.channel)),
        version(virmgrpc::VersionService::NewStub(connection.channel)) {}

  Connection connection;
  const std::unique_ptr<v1::Pods::Stub> pods;
  const std::unique_ptr<virmgrpc::UserService::Stub> user;
  const std::unique_ptr<virmgrpc::VersionService::Stub> version;
};

namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

// grpc's word for it is empty.
Status fromServer(const grpc::Status& status, const Server& server) {
  if (status.error_code() != grpc::StatusCode::UNIMPLEMENTED) return fromGrpc(status, server);
  return {Code::kUnimplemented,
          "the server at " + server.address + " has no such call: it is not popdistd, or an older one"};
}

template <typename Stub, typename Request, typename Reply>
Result<Reply> unary(const Connection& connection, Stub& stub, milliseconds timeout,
                    grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                    const Request& request) {
  grpc::ClientContext context;
  context.set_deadline(system_clock::now() + timeout);
  Reply reply;
  const grpc::Status status = (stub.*method)(&context, request, &reply);
  if (!status.ok()) return fromServer(status, connection.server);
  return reply;
}

template <typename Ref>
Ref refTo(const std::string& id) {
  Ref ref;
  ref.set_id(id);
  return ref;
}

}  // namespace

PodsClient::PodsClient(Server server, milliseconds timeout)
    : stubs_(std::make_unique<Stubs>(std::move(server))), timeout_(timeout) {}

PodsClient::~PodsClient() = default;

const Server& PodsClient::server() const {
  return stubs_->connection.server;
}

Connection& PodsClient::connection() {
  return stubs_->connection;
}

void PodsClient::waitForNextAttempt() {
  waitWhileConnecting(stubs_->connection, kUntilNextAttempt);
}

// The methods differ in nothing else.
#define POP_USER_(Method, request) \
  unary(stubs_->connection, *stubs_->user, timeout_, &virmgrpc::UserService::Stub::Method, request)
#define POP_PODS_(Method, request) \
  unary(stubs_->connection, *stubs_->pods, timeout_, &v1::Pods::Stub::Method, request)

Result<virmgrpc::VersionReply> PodsClient::version() {
  return unary(stubs_->connection, *stubs_->version, timeout_, &virmgrpc::VersionService::Stub::GetVersion,
               virmgrpc::VersionRequest());
}
Result<virmgrpc::ListPartitionsReply> PodsClient::listPartitions(
    const virmgrpc::ListPartitionsRequest& request) {
  return POP_USER_(ListPartitions, request);
}
Result<virmgrpc::ListIPUAttributesReply> PodsClient::listIpuAttributes(
    const virmgrpc::ListIPUAttributesRequest& request) {
  return POP_USER_(ListIPUAttributes, request);
}
Result<virmgrpc::CreatePartitionReply> PodsClient::createPartition(
    const virmgrpc::CreatePartitionRequest& request) {
  return POP_USER_(CreatePartition, request);
}
Status PodsClient::removePartition(const virmgrpc::RemovePartitionRequest& request) {
  return POP_USER_(RemovePartition, request).status();
}
Status PodsClient::resetPartition(const virmgrpc::ResetPartitionRequest& request) {
  return POP_USER_(ResetPartition, request).status();
}
Result<virmgrpc::PartitionConfig> PodsClient::ipuofConfig(
    const virmgrpc::GetPartitionIpuofConfigRequest& request) {
  POP_ASSIGN_OR_RETURN(const virmgrpc::GetPartitionIpuofConfigReply reply,
                       POP_USER_(GetPartitionIpuofConfig, request));
  return reply.ipuof_config();
}
Result<virmgrpc::PartitionStatus> PodsClient::partitionStatus(const std::string& partition) {
  virmgrpc::GetPartitionStatusRequest request;
  request.set_partition_id(partition);
  POP_ASSIGN_OR_RETURN(const virmgrpc::GetPartitionStatusReply reply, POP_USER_(GetPartitionStatus, request));
  return reply.status();
}

Result<v1::ClusterInfo> PodsClient::createCluster(const v1::ClusterInfo& cluster) {
  return POP_PODS_(CreateCluster, cluster);
}
Status PodsClient::removeCluster(const std::string& cluster) {
  return POP_PODS_(RemoveCluster, refTo<v1::ClusterRef>(cluster)).status();
}
Result<v1::ListClustersReply> PodsClient::listClusters() {
  return POP_PODS_(ListClusters, v1::ListClustersRequest());
}
Result<v1::AgentInfo> PodsClient::createAgent(const v1::AgentInfo& agent) {
  return POP_PODS_(CreateAgent, agent);
}
Status PodsClient::removeAgent(const std::string& agent) {
  return POP_PODS_(RemoveAgent, refTo<v1::AgentRef>(agent)).status();
}
Result<v1::ListAgentsReply> PodsClient::listAgents(const std::string& cluster) {
  v1::ListAgentsRequest request;
  request.set_cluster(cluster);
  return POP_PODS_(ListAgents, request);
}
Result<v1::AgentInfo> PodsClient::drainAgent(const v1::DrainAgentRequest& request) {
  return POP_PODS_(DrainAgent, request);
}
Result<v1::AgentInfo> PodsClient::resumeAgent(const std::string& agent) {
  return POP_PODS_(ResumeAgent, refTo<v1::AgentRef>(agent));
}
Result<v1::AllocationInfo> PodsClient::createAllocation(const v1::CreateAllocationRequest& request) {
  return POP_PODS_(CreateAllocation, request);
}
Status PodsClient::removeAllocation(const std::string& allocation) {
  return POP_PODS_(RemoveAllocation, refTo<v1::AllocationRef>(allocation)).status();
}
Result<v1::ListAllocationsReply> PodsClient::listAllocations() {
  return POP_PODS_(ListAllocations, v1::ListAllocationsRequest());
}
Result<v1::ListPodPartitionsReply> PodsClient::listPodPartitions(
    const v1::ListPodPartitionsRequest& request) {
  return allPages(
      request, [this](const v1::ListPodPartitionsRequest& page) { return POP_PODS_(ListPartitions, page); });
}
Result<std::optional<v1::PartitionInfo>> PodsClient::partitionInfo(const std::string& partition) {
  const Result<v1::ListPodPartitionsReply> all = listPodPartitions({});
  if (all.code() == Code::kUnimplemented) return std::optional<v1::PartitionInfo>();
  if (!all.ok()) return all.status();
  for (const v1::PartitionInfo& each : all.value().partitions()) {
    if (each.id() == partition) return std::optional(each);
  }
  return std::optional<v1::PartitionInfo>();
}
Status PodsClient::releasePartition(const v1::ReleasePartitionRequest& request) {
  return POP_PODS_(ReleasePartition, request).status();
}

#undef POP_USER_
#undef POP_PODS_

}  // namespace pop::popctl
