// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/no_leader_server.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <mutex>
#include <utility>

#include "popdistd/rpc/server_tls.h"

namespace pop::popdistd {
namespace {

constexpr int kMostMessageBytes = 4 << 20;
// A client that keeps its connection would hear the refusal for ever, also after an election.
constexpr int kMostAgeMs = 500;
constexpr int kMostGraceMs = 1000;

class Refusal final : public grpc::ServerGenericBidiReactor {
 public:
  explicit Refusal(const std::string& why) { Finish({grpc::StatusCode::UNAVAILABLE, why}); }
  void OnDone() override { delete this; }  // as gRPC has it
};

class Refuser final : public grpc::CallbackGenericService {
 public:
  void set(const std::string& why) {
    const std::scoped_lock lock(mutex_);
    why_ = why;
  }

 private:
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    const std::scoped_lock lock(mutex_);
    return new Refusal(why_);
  }

  std::mutex mutex_;
  std::string why_ = "no popdistd leads yet";
};

}  // namespace

struct NoLeaderServer::Impl {
  Refuser refuser;
  std::shared_ptr<ServerCertificates> certificates;
  std::unique_ptr<grpc::Server> server;
  int port = 0;
};

NoLeaderServer::NoLeaderServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

NoLeaderServer::~NoLeaderServer() {
  impl_->server->Shutdown(std::chrono::system_clock::now());
}

Result<std::unique_ptr<NoLeaderServer>> NoLeaderServer::start(std::optional<tls::TlsFiles> tls) {
  auto impl = std::make_unique<Impl>();
  if (tls) impl->certificates = makeServerCertificates(std::move(*tls));
  grpc::ServerBuilder builder;
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, kMostAgeMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, kMostGraceMs);
  builder.SetMaxReceiveMessageSize(kMostMessageBytes);
  builder.RegisterCallbackGenericService(&impl->refuser);
  builder.AddListeningPort(
      "127.0.0.1:0",
      impl->certificates ? serverCredentials(impl->certificates) : grpc::InsecureServerCredentials(),
      &impl->port);
  impl->server = builder.BuildAndStart();
  if (impl->server == nullptr || impl->port == 0) return unavailable("gRPC cannot listen at 127.0.0.1");
  return std::unique_ptr<NoLeaderServer>(new NoLeaderServer(std::move(impl)));
}

int NoLeaderServer::port() const {
  return impl_->port;
}

void NoLeaderServer::setReason(const std::string& why) {
  impl_->refuser.set(why);
}

}  // namespace pop::popdistd
