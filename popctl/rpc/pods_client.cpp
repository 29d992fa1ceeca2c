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

Result<virmgrpc::VersionReply> PodsClient::version() {
  return unary(stubs_->connection, *stubs_->version, timeout_, &virmgrpc::VersionService::Stub::GetVersion,
               virmgrpc::VersionRequest());
}

#define CALL(Name, member, Request, Answer, ...)                                                            \
  Result<virmgrpc::Answer> PodsClient::member(const virmgrpc::Request& request) {                           \
    return unary(stubs_->connection, *stubs_->user, timeout_, &virmgrpc::UserService::Stub::Name, request); \
  }
#include "proto/calls/vipu.def"

#define CALL(Name, member, Request, Answer, ...)                                               \
  Result<v1::Answer> PodsClient::member(const v1::Request& request) {                          \
    return unary(stubs_->connection, *stubs_->pods, timeout_, &v1::Pods::Stub::Name, request); \
  }
#include "proto/calls/pods.def"

Result<virmgrpc::PartitionStatus> PodsClient::partitionStatus(const std::string& partition) {
  virmgrpc::GetPartitionStatusRequest request;
  request.set_partition_id(partition);
  POP_ASSIGN_OR_RETURN(const virmgrpc::GetPartitionStatusReply reply, getPartitionStatus(request));
  return reply.status();
}

Result<v1::ListPodPartitionsReply> PodsClient::listPodPartitions(
    const v1::ListPodPartitionsRequest& request) {
  return allPages(request, [this](const v1::ListPodPartitionsRequest& page) { return listPartitions(page); });
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
}  // namespace pop::popctl
