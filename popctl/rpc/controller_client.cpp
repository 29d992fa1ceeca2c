// SPDX-License-Identifier: Apache-2.0
#include "popctl/rpc/controller_client.h"

#include <grpcpp/client_context.h>

#include <utility>

#include "popctl/rpc/all_pages.h"
#include "popctl/rpc/connection.h"
#include "popctl/rpc/reconnects.h"

namespace pop::popctl {
namespace {

using Stub = v1::Controller::Stub;

template <typename Request, typename Reply>
Result<Reply> unary(Connection& connection, Until until,
                    grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                    const Request& request) {
  grpc::ClientContext context;
  if (until) context.set_deadline(*until);
  Reply reply;
  const grpc::Status status = (connection.stub.get()->*method)(&context, request, &reply);
  if (!status.ok()) return fromGrpc(status, connection.server);
  return reply;
}

template <typename Request, typename Message, typename Each>
Status streamed(Connection& connection,
                std::unique_ptr<grpc::ClientReader<Message>> (Stub::*method)(grpc::ClientContext*,
                                                                             const Request&),
                const Request& request, const Each& each,
                std::optional<std::chrono::system_clock::time_point> until = std::nullopt) {
  grpc::ClientContext context;
  if (until) context.set_deadline(*until);
  const auto reader = (connection.stub.get()->*method)(&context, request);
  Message message;
  bool wanted = true;
  while (wanted && reader->Read(&message)) wanted = each(message);
  if (wanted) return streamEnd(reader->Finish(), connection.server);
  context.TryCancel();
  reader->Finish();
  return {};
}

}  // namespace

ControllerClient::ControllerClient(Server server, std::chrono::milliseconds timeout)
    : connection_(std::make_unique<Connection>(std::move(server))), timeout_(timeout) {}

ControllerClient::~ControllerClient() = default;

const Server& ControllerClient::server() const {
  return connection_->server;
}

void ControllerClient::waitForNextAttempt() {
  waitWhileConnecting(*connection_, kUntilNextAttempt);
}

// A connection that has ended leaves the channel idle.
bool ControllerClient::isConnecting() const {
  const grpc_connectivity_state state = connection_->channel->GetState(false);
  return state == GRPC_CHANNEL_TRANSIENT_FAILURE || state == GRPC_CHANNEL_CONNECTING;
}

#define CALL(Name, member, Request, Answer, ...)                                                   \
  Result<v1::Answer> ControllerClient::member(const v1::Request& request) {                        \
    return unary(*connection_, std::chrono::system_clock::now() + timeout_, &Stub::Name, request); \
  }
#include "proto/calls/controller.def"

Result<v1::SubmitReply> ControllerClient::submit(const v1::SubmitRequest& request, Until until) {
  return until ? unary(*connection_, until, &Stub::Submit, request) : submit(request);
}
Result<v1::JobInfo> ControllerClient::wait(const v1::JobRef& job, Until until) {
  return unary(*connection_, until, &Stub::Wait, job);
}
Result<v1::ListHostsReply> ControllerClient::allHosts() {
  return allPages(v1::ListHostsRequest(),
                  [this](const v1::ListHostsRequest& page) { return listHosts(page); });
}

Status ControllerClient::watch(const v1::WatchRequest& request,
                               const std::function<bool(const v1::Change&)>& each, Until until) {
  return streamed(*connection_, &Stub::Watch, request, each, until);
}
Status ControllerClient::logs(const v1::LogsRequest& request,
                              const std::function<bool(const v1::Record&)>& each, Until until) {
  return streamed(*connection_, &Stub::Logs, request, each, until);
}
Status ControllerClient::backup(const std::function<bool(const std::string& bytes)>& each) {
  return streamed(*connection_, &Stub::Backup, v1::Nothing(),
                  [&each](const v1::BackupChunk& chunk) { return each(chunk.bytes()); });
}

}  // namespace pop::popctl
