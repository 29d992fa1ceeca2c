// SPDX-License-Identifier: Apache-2.0
#include "common/rpc/agent_server.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <chrono>
#include <deque>
#include <utility>
#include <vector>

#include "common/rpc/certificates.h"
#include "common/rpc/grpc_log.h"
#include "common/rpc/grpc_status.h"
#include "common/rpc/write_queue.h"
#include "proto/popdist/v1/agent.grpc.pb.h"

namespace pop::rpc {
namespace {

// By its URIs: the common name of a host's certificate may be that of a user.
Result<std::string> certifiedName(const grpc::CallbackServerContext& context) {
  const auto authentication = context.auth_context();
  if (!authentication || !authentication->IsPeerAuthenticated()) return std::string();
  std::vector<std::string> uris;
  for (const grpc::string_ref& uri : authentication->FindPropertyValues(GRPC_PEER_URI_PROPERTY_NAME))
    uris.emplace_back(uri.data(), uri.size());
  return userFromUris(uris);
}

// "ipv4:10.0.0.1:4242", "ipv6:%5Bfd00::1%5D:4242"
std::string addressOf(const std::string& peer) {
  const std::size_t first = peer.find(':') + 1;
  const std::size_t port = peer.rfind(':');
  std::string address = port <= first ? std::string() : peer.substr(first, port - first);
  for (const char* bracket : {"%5B", "%5D", "[", "]"}) {
    if (const std::size_t at = address.find(bracket); at != std::string::npos)
      address.erase(at, std::string(bracket).size());
  }
  return peer.starts_with("ipv4:") || peer.starts_with("ipv6:") ? address : std::string();
}

class RunReactor final : public grpc::ServerBidiReactor<v1::Command, v1::Report>,
                         public ServedCall,
                         public std::enable_shared_from_this<RunReactor> {
 public:
  RunReactor(Loop& loop, const grpc::CallbackServerContext& context)
      : loop_(loop), peer_name_(certifiedName(context)), peer_address_(addressOf(context.peer())) {}

  void start() {
    self_ = shared_from_this();
    StartRead(&incoming_);
  }

  // ---- the loop's thread

  void listen(Events events) override {
    events_ = std::move(events);
    while (!waiting_.empty()) {
      v1::Command command = std::move(waiting_.front());
      waiting_.pop_front();
      events_.command(std::move(command));
    }
    if (closed_ && events_.closed) events_.closed();
  }

  void send(v1::Report report) override { queue_.push(std::move(report)); }

  void finish(Status status) override {
    queue_.close([this, status = std::move(status)] { Finish(toGrpc(status)); });
  }

  Result<std::string> peerName() const override { return peer_name_; }
  std::string peerAddress() const override { return peer_address_; }

  // ---- gRPC's threads

  void OnReadDone(bool ok) override {
    if (!ok) return loop_.post([self = self_] { self->noMore(); });
    loop_.post([self = self_, command = std::make_shared<v1::Command>(std::move(incoming_))] {
      self->receive(std::move(*command));
    });
    incoming_.Clear();
    StartRead(&incoming_);
  }

  void OnWriteDone(bool ok) override { queue_.written(ok); }

  // At once, and not from the loop: a server that is being destroyed waits for this.
  void OnCancel() override { finish({Code::kCancelled, "the controller is gone"}); }

  void OnDone() override { std::exchange(self_, nullptr).reset(); }

 private:
  void receive(v1::Command command) {
    if (events_.command) return events_.command(std::move(command));
    waiting_.push_back(std::move(command));
  }

  void noMore() {
    if (std::exchange(closed_, true)) return;
    if (events_.closed) events_.closed();
  }

  Loop& loop_;
  const Result<std::string> peer_name_;
  const std::string peer_address_;
  v1::Command incoming_;
  WriteQueue<RunReactor, v1::Report> queue_{*this};
  std::shared_ptr<RunReactor> self_;  ///< until OnDone
  Events events_;
  std::deque<v1::Command> waiting_;  ///< until somebody listens
  bool closed_ = false;
};

}  // namespace

class AgentServer::Impl final : public v1::Agent::CallbackService {
 public:
  Impl(Loop& loop, Handlers handlers) : loop_(loop), handlers_(std::move(handlers)) {}

  grpc::ServerBidiReactor<v1::Command, v1::Report>* Run(grpc::CallbackServerContext* context) override {
    const auto call = std::make_shared<RunReactor>(loop_, *context);
    call->start();
    loop_.post([this, call] { handlers_.run(call); });
    return call.get();
  }

  grpc::ServerUnaryReactor* Describe(grpc::CallbackServerContext* context, const v1::Nothing*,
                                     v1::HostDescription* reply) override {
    return answer(context, [this, reply](const std::string& peer) -> Status {
      POP_ASSIGN_OR_RETURN(*reply, handlers_.describe(peer));
      return {};
    });
  }

  grpc::ServerUnaryReactor* EndJob(grpc::CallbackServerContext* context, const v1::EndJobRequest* request,
                                   v1::Nothing*) override {
    return answer(context, [this, request = *request](const std::string& peer) {
      return handlers_.end_job(peer, request);
    });
  }

  Result<int> start(const std::string& address, const std::shared_ptr<grpc::ServerCredentials>& credentials) {
    grpc::ServerBuilder builder;
    builder.SetMaxReceiveMessageSize(-1);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // of two services at one port, the second fails
    int port = 0;
    // grpc.health.v1.Health, beside ours: for who gets through TLS.
    grpc::EnableDefaultHealthCheckService(true);
    builder.AddListeningPort(address, credentials, &port);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    if (!server_ || port == 0)
      return Status(Code::kUnavailable,
                    "cannot listen at " + address + " (is it another's, or not this host's?)");
    return port;
  }

  void sayStopping() {
    if (!server_) return;
    if (auto* const health = server_->GetHealthCheckService()) health->SetServingStatus(false);
  }

  void close(std::chrono::milliseconds patience) {
    if (server_) server_->Shutdown(std::chrono::system_clock::now() + patience);
  }

 private:
  // On the loop's thread, for a peer who is somebody.
  grpc::ServerUnaryReactor* answer(grpc::CallbackServerContext* context,
                                   std::function<Status(const std::string& peer)> handle) {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    loop_.post([peer = certifiedName(*context), handle = std::move(handle), reactor] {
      reactor->Finish(toGrpc(peer.ok() ? handle(peer.value()) : peer.status()));
    });
    return reactor;
  }

  Loop& loop_;
  const Handlers handlers_;
  std::unique_ptr<grpc::Server> server_;
};

AgentServer::AgentServer(Loop& loop, Handlers handlers) {
  keepGrpcQuiet();
  impl_ = std::make_unique<Impl>(loop, std::move(handlers));
}

AgentServer::~AgentServer() {
  impl_->close({});
}

void AgentServer::close(std::chrono::milliseconds patience) {
  impl_->close(patience);
}

void AgentServer::sayStopping() {
  impl_->sayStopping();
}

Result<int> AgentServer::listenAt(const std::string& address,
                                  const std::shared_ptr<grpc::ServerCredentials>& credentials) {
  return impl_->start(address, credentials);
}

}  // namespace pop::rpc
