// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/rpc_server.h"

#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/log/log.h"
#include "common/os/tcp.h"
#include "popdistd/rpc/calls.h"
#include "popdistd/rpc/grpc_services.h"
#include "popdistd/rpc/local_server.h"
#include "popdistd/rpc/network_door.h"
#include "popdistd/rpc/peer_of.h"
#include "popdistd/rpc/rpc_meter.h"
#include "popdistd/rpc/server_tls.h"
#include "proto/descriptors.h"

namespace pop::popdistd {
namespace {

constexpr int kMostHostMessageBytes = 16 * 1024 * 1024;
constexpr int kMostMetadataBytes = 256 * 1024;
constexpr int kMostStreamsOfAConnection = 256;
constexpr std::size_t kMostBufferBytes = 256 * 1024 * 1024;
constexpr int kMostThreads = 16;  // for reflection, which blocks one for each client
constexpr std::size_t kMostLocalUsers = 256;
constexpr std::size_t kMostArriving = 1024;
constexpr std::chrono::milliseconds kStopWithin{1000};
constexpr int kMostIdleMs = 300'000;  // a client without calls connects again when it has one

void log(gpr_log_func_args* said) {
  log::debug(std::string("gRPC: ") + said->message);
}

void setUpGrpc() {
  static std::once_flag once;
  std::call_once(once, [] {
    logGrpcAsDebug();
    proto::registerDescriptors();
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::EnableDefaultHealthCheckService(true);
  });
}

void setLimits(grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5'000);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostStreamsOfAConnection);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMostMetadataBytes);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(kMostHostMessageBytes);
  builder.SetResourceQuota(
      grpc::ResourceQuota("popdistd").Resize(kMostBufferBytes).SetMaxThreads(kMostThreads));
}

void countCalls(grpc::ServerBuilder& builder, const std::shared_ptr<RpcMeter>& meter) {
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
  interceptors.push_back(counting(meter));
  builder.experimental().SetInterceptorCreators(std::move(interceptors));
}

std::size_t mostDescriptors() {
  rlimit descriptors{};
  ::getrlimit(RLIMIT_NOFILE, &descriptors);
  return descriptors.rlim_cur;
}

using Services = std::vector<std::unique_ptr<grpc::Service>>;

Services userServices(const std::shared_ptr<Calls>& calls, const Served& served,
                      const std::shared_ptr<const CallersOf>& callers) {
  Services services;
  services.push_back(makeControllerService(calls, served.api, callers));
  services.push_back(makePodsService(calls, served.pods, callers));
  services.push_back(makeVipuUserService(calls, served.vipu, callers));
  services.push_back(makeVipuVersionService(calls, served.vipu, callers));
  if (served.access != nullptr) services.push_back(makeAccessService(calls, *served.access, callers));
  return services;
}

}  // namespace

void logGrpcAsDebug() {
  gpr_set_log_function(log);
}

struct RpcServer::Impl {
  os::EpollLoop& loop;
  Served served;
  Identify identify;
  std::shared_ptr<Calls> calls;
  std::shared_ptr<RpcMeter> meter = std::make_shared<RpcMeter>();
  std::vector<std::unique_ptr<grpc::Service>> services;
  std::shared_ptr<ServerCertificates> certificates;
  std::unique_ptr<grpc::Server> server;
  std::map<std::string, LocalServer> locals;  ///< by their users
  std::optional<NetworkDoor> door;            ///< until the stop
  int port = 0;
  bool stopping = false;
  std::thread stopper;
};

RpcServer::RpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

RpcServer::~RpcServer() {
  POP_CHECK(impl_->stopper.joinable());
  impl_->stopper.join();
}

Result<std::unique_ptr<RpcServer>> RpcServer::start(os::EpollLoop& loop, const Served& served,
                                                    RpcOptions options) {
  setUpGrpc();
  POP_ASSIGN_OR_RETURN(os::Listener listener, os::listenAt(options.address, options.port));
  auto impl = std::unique_ptr<Impl>(
      new Impl{.loop = loop,
               .served = served,
               .identify = options.identify,
               .calls = std::make_shared<Calls>(loop, Calls::Limits{.write_timeout = options.write_timeout,
                                                                    .join_timeout = options.join_timeout})});
  const std::size_t most_arriving = std::min(kMostArriving, mostDescriptors() / 8);
  const auto connections = std::make_shared<Connections>(limitsWithin(mostDescriptors() - most_arriving));
  const auto callers = std::make_shared<CallersOf>(
      std::move(options.identify), std::move(options.is_still_good), options.tls.has_value(), connections);
  impl->services = userServices(impl->calls, served, callers);
  impl->services.push_back(makeHostsService(impl->calls, served.gate, callers));
  if (options.tls) impl->certificates = makeServerCertificates(std::move(*options.tls));
  grpc::ServerBuilder builder;
  setLimits(builder);
  countCalls(builder, impl->meter);
  for (const auto& service : impl->services) builder.RegisterService(service.get());
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kMostIdleMs);
  auto acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      impl->certificates ? serverCredentials(impl->certificates) : grpc::InsecureServerCredentials());
  impl->server = builder.BuildAndStart();
  if (impl->server == nullptr) return unavailable("gRPC cannot serve (--log-level debug says more)");
  impl->server->GetHealthCheckService()->SetServingStatus(true);
  impl->calls->watchWrites();
  impl->port = listener.port;
  impl->door.emplace(loop, std::move(listener),
                     DoorSettings{.connections = connections,
                                  .headers = std::move(options.headers),
                                  .arrival_timeout = options.arrival_timeout,
                                  .most_arriving = most_arriving},
                     std::move(acceptor));
  return std::unique_ptr<RpcServer>(new RpcServer(std::move(impl)));
}

int RpcServer::port() const {
  return impl_->port;
}

// Hosts do not join by it.
Status RpcServer::addLocal(sys::Fd connection, const std::string& unix_user) {
  if (impl_->stopping) return unavailable("popdistd is being stopped");
  auto local = impl_->locals.find(unix_user);
  if (local == impl_->locals.end()) {
    if (impl_->locals.size() >= kMostLocalUsers)
      return {Code::kResourceExhausted, "too many users have come by the local socket"};
    Services services = userServices(impl_->calls, impl_->served,
                                     std::make_shared<CallersOf>(impl_->identify, false, unix_user));
    grpc::ServerBuilder builder;
    setLimits(builder);
    countCalls(builder, impl_->meter);
    builder.SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, 1);
    for (const auto& service : services) builder.RegisterService(service.get());
    std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
    if (server == nullptr) return unavailable("gRPC cannot serve the local socket");
    local = impl_->locals.try_emplace(unix_user, std::move(services), std::move(server)).first;
  }
  return local->second.add(std::move(connection));
}

RpcMeters RpcServer::meters() const {
  return impl_->meter->meters();
}

void RpcServer::setTls(tls::TlsFiles files) {
  if (impl_->certificates) replace(*impl_->certificates, std::move(files));
}

// Shutdown() waits for the calls, which the loop has to end.
void RpcServer::stop(const Status& why, std::function<void()> stopped) {
  if (std::exchange(impl_->stopping, true)) return;
  impl_->door.reset();
  impl_->server->GetHealthCheckService()->SetServingStatus(false);
  impl_->calls->close(why);
  impl_->stopper = std::thread([impl = impl_.get(), stopped = std::move(stopped)] {
    const auto deadline = std::chrono::system_clock::now() + kStopWithin;
    for (auto& [user, local] : impl->locals) local.server().Shutdown(deadline);
    impl->server->Shutdown(deadline);
    impl->loop.post(stopped);
  });
}

}  // namespace pop::popdistd
