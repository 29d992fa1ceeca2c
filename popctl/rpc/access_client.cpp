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

#define CALL(Name, member, Request, Answer, ...)                        \
  Result<v1::Answer> AccessClient::member(const v1::Request& request) { \
    return stubs_->unary(timeout_, &Stub::Name, request);               \
  }
#include "proto/calls/access.def"

}  // namespace pop::popctl
