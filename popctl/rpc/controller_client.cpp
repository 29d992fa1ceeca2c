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

// The methods differ in nothing else.
#define POP_UNARY_(Method, request) \
  unary(*connection_, std::chrono::system_clock::now() + timeout_, &Stub::Method, request)

Result<v1::SubmitReply> ControllerClient::submit(const v1::SubmitRequest& request, Until until) {
  return unary(*connection_, until.value_or(std::chrono::system_clock::now() + timeout_), &Stub::Submit,
               request);
}
Result<v1::JobInfo> ControllerClient::get(const v1::JobRef& job) {
  return POP_UNARY_(Get, job);
}
Result<v1::ListJobsReply> ControllerClient::list(const v1::ListJobsRequest& request) {
  return POP_UNARY_(List, request);
}
Result<v1::JobInfo> ControllerClient::signal(const v1::SignalRequest& request) {
  return POP_UNARY_(Signal, request);
}
Result<v1::JobInfo> ControllerClient::cancel(const v1::CancelRequest& request) {
  return POP_UNARY_(Cancel, request);
}
Result<v1::JobInfo> ControllerClient::hold(const v1::JobRef& job) {
  return POP_UNARY_(Hold, job);
}
Result<v1::JobInfo> ControllerClient::release(const v1::JobRef& job) {
  return POP_UNARY_(Release, job);
}
Result<v1::JobInfo> ControllerClient::wait(const v1::JobRef& job, Until until) {
  return unary(*connection_, until, &Stub::Wait, job);
}
Status ControllerClient::forget(const v1::JobRef& job) {
  return POP_UNARY_(Forget, job).status();
}

Result<v1::ListHostsReply> ControllerClient::listHosts() {
  return allPages(v1::ListHostsRequest(),
                  [this](const v1::ListHostsRequest& page) { return POP_UNARY_(ListHosts, page); });
}
Result<v1::HostInfo> ControllerClient::getHost(const v1::HostRef& host) {
  return POP_UNARY_(GetHost, host);
}
Result<v1::HostInfo> ControllerClient::drain(const v1::DrainRequest& request) {
  return POP_UNARY_(Drain, request);
}
Result<v1::HostInfo> ControllerClient::resume(const v1::HostRef& host) {
  return POP_UNARY_(Resume, host);
}
Status ControllerClient::removeHost(const v1::HostRef& host) {
  return POP_UNARY_(RemoveHost, host).status();
}

Result<v1::QuotaInfo> ControllerClient::setQuota(const v1::QuotaInfo& quota) {
  return POP_UNARY_(SetQuota, quota);
}
Status ControllerClient::removeQuota(const v1::QuotaRef& quota) {
  return POP_UNARY_(RemoveQuota, quota).status();
}
Result<v1::ListQuotasReply> ControllerClient::listQuotas() {
  return POP_UNARY_(ListQuotas, v1::ListQuotasRequest());
}

Result<v1::AboutReply> ControllerClient::about() {
  return POP_UNARY_(About, v1::Nothing());
}
Result<v1::CheckStoreReply> ControllerClient::checkStore() {
  return POP_UNARY_(CheckStore, v1::Nothing());
}

#undef POP_UNARY_

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
