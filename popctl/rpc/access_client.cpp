// SPDX-License-Identifier: Apache-2.0
#include "popctl/rpc/access_client.h"

#include <grpcpp/client_context.h>

#include <utility>

#include "popctl/rpc/connection.h"
#include "proto/popdist/v1/access.grpc.pb.h"

namespace pop::popctl {

using Stub = v1::Access::Stub;

struct AccessClient::Stubs {
  explicit Stubs(Server server)
      : connection(std::move(server)), access(v1::Access::NewStub(connection.channel)) {}

  template <typename Request, typename Reply>
  Result<Reply> unary(std::chrono::milliseconds timeout,
                      grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                      const Request& request) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + timeout);
    Reply reply;
    const grpc::Status status = (access.get()->*method)(&context, request, &reply);
    if (!status.ok()) return fromGrpc(status, connection.server);
    return reply;
  }

  Connection connection;
  const std::unique_ptr<Stub> access;
};

AccessClient::AccessClient(Server server, std::chrono::milliseconds timeout)
    : stubs_(std::make_unique<Stubs>(std::move(server))), timeout_(timeout) {}

AccessClient::~AccessClient() = default;

const Server& AccessClient::server() const {
  return stubs_->connection.server;
}

Result<v1::CreateUserReply> AccessClient::createUser(const v1::CreateUserRequest& request) {
  return stubs_->unary(timeout_, &Stub::CreateUser, request);
}
Result<v1::ListUsersReply> AccessClient::listUsers() {
  return stubs_->unary(timeout_, &Stub::ListUsers, v1::ListUsersRequest());
}
Status AccessClient::removeUser(const v1::UserRef& user) {
  return stubs_->unary(timeout_, &Stub::RemoveUser, user).status();
}
Result<v1::CreateTokenReply> AccessClient::createToken(const v1::CreateTokenRequest& request) {
  return stubs_->unary(timeout_, &Stub::CreateToken, request);
}
Result<v1::ListTokensReply> AccessClient::listTokens() {
  return stubs_->unary(timeout_, &Stub::ListTokens, v1::ListTokensRequest());
}
Status AccessClient::removeToken(const v1::TokenRef& token) {
  return stubs_->unary(timeout_, &Stub::RemoveToken, token).status();
}
Result<v1::ListAuditReply> AccessClient::listAudit(const v1::ListAuditRequest& request) {
  return stubs_->unary(timeout_, &Stub::ListAudit, request);
}
Result<v1::CheckAuditReply> AccessClient::checkAudit() {
  return stubs_->unary(timeout_, &Stub::CheckAudit, v1::Nothing());
}

}  // namespace pop::popctl
