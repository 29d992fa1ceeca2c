// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/rpc_server.h"

#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/log/log.h"
#include "common/os/tcp.h"
#include "popdistd/rpc/calls.h"
#include "popdistd/rpc/controller_service.h"
#include "popdistd/rpc/host_stream.h"
#include "popdistd/rpc/peer_of.h"
#include "popdistd/rpc/pods_service.h"
#include "popdistd/rpc/rpc_meter.h"
#include "popdistd/rpc/server_tls.h"
#include "popdistd/rpc/vipu_services.h"
#include "proto/descriptors.h"

namespace pop::popdistd {
namespace {

constexpr int kMostHostMessageBytes = 16 * 1024 * 1024;
constexpr int kMostMetadataBytes = 256 * 1024;
constexpr int kMostStreamsOfAConnection = 256;
constexpr std::size_t kMostBufferBytes = 256 * 1024 * 1024;
constexpr int kMostThreads = 16;  // for reflection, which blocks one for each client
constexpr std::chrono::milliseconds kStopWithin{1000};

// What gRPC says is about single connections, and for who looks for the fault of one.
void log(gpr_log_func_args* said) {
  log::debug(std::string("gRPC: ") + said->message);
}

void setUpGrpc() {
  static std::once_flag once;
  std::call_once(once, [] {
    gpr_set_log_function(log);
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

std::string bracketed(const std::string& address) {
  return address.find(':') == std::string::npos ? address : '[' + address + ']';
}

std::vector<std::string> propertyOf(const grpc::AuthContext& context, const char* name) {
  std::vector<std::string> values;
  for (const grpc::string_ref& value : context.FindPropertyValues(name))
    values.emplace_back(value.data(), value.size());
  return values;
}

// "ipv4:10.0.0.1:1234", "ipv6:%5Bfd00::1%5D:1234"
void setAddress(Peer& peer, std::string uri) {
  for (const auto& [escape, plain] : {std::pair("%5B", '['), std::pair("%5D", ']'), std::pair("%25", '%')}) {
    if (const std::size_t at = uri.find(escape); at != std::string::npos) uri.replace(at, 3, 1, plain);
  }
  const std::size_t begin = uri.find(':') + 1;
  const std::size_t colon = uri.rfind(':');
  peer.port = uri.substr(colon + 1);
  peer.address = colon > begin ? uri.substr(begin, colon - begin) : uri;
  if (peer.address.starts_with('[') && peer.address.ends_with(']'))
    peer.address = peer.address.substr(1, peer.address.size() - 2);
  constexpr std::string_view kMapped = "::ffff:";
  if (peer.address.starts_with(kMapped)) peer.address.erase(0, kMapped.size());
}

std::vector<std::unique_ptr<grpc::Service>> servicesOf(const std::shared_ptr<Calls>& calls,
                                                       const Served& served, const std::string& own_user) {
  std::vector<std::unique_ptr<grpc::Service>> services;
  services.push_back(makeControllerService(calls, served.api, own_user));
  services.push_back(makeHostsService(calls, served.gate));
  services.push_back(makePodsService(calls, served.pods, own_user));
  services.push_back(makeVipuUserService(calls, served.vipu, own_user));
  services.push_back(makeVipuVersionService(calls, served.vipu, own_user));
  return services;
}

}  // namespace

Peer peerOf(const grpc::CallbackServerContext& context) {
  Peer peer;
  setAddress(peer, context.peer());
  const std::shared_ptr<const grpc::AuthContext> known = context.auth_context();
  peer.has_tls = known->IsPeerAuthenticated();
  peer.uris = propertyOf(*known, GRPC_PEER_URI_PROPERTY_NAME);
  peer.names = propertyOf(*known, GRPC_PEER_DNS_PROPERTY_NAME);
  for (std::string& ip : propertyOf(*known, GRPC_PEER_IP_PROPERTY_NAME)) peer.names.push_back(std::move(ip));
  return peer;
}

struct RpcServer::Impl {
  Loop& loop;
  std::shared_ptr<Calls> calls;
  std::shared_ptr<RpcMeter> meter = std::make_shared<RpcMeter>();
  std::vector<std::unique_ptr<grpc::Service>> services;
  std::shared_ptr<ServerCertificates> certificates;
  std::unique_ptr<grpc::Server> server;
  int port = 0;
  bool stopping = false;
  std::thread stopper;
};

RpcServer::RpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

RpcServer::~RpcServer() {
  POP_CHECK(impl_->stopper.joinable());
  impl_->stopper.join();
}

Result<std::unique_ptr<RpcServer>> RpcServer::start(Loop& loop, const Served& served, RpcOptions options) {
  setUpGrpc();
  // gRPC does not say why it cannot listen.
  POP_RETURN_IF_ERROR(os::listenAt(options.address, options.port).status());
  auto impl = std::unique_ptr<Impl>(new Impl{
      .loop = loop,
      .calls = std::make_shared<Calls>(loop, Calls::Limits{.write_timeout = options.write_timeout})});
  impl->services = servicesOf(impl->calls, served, options.own_user);
  if (options.tls) impl->certificates = makeServerCertificates(std::move(*options.tls));
  grpc::ServerBuilder builder;
  setLimits(builder);
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
  interceptors.push_back(counting(impl->meter));
  builder.experimental().SetInterceptorCreators(std::move(interceptors));
  for (const auto& service : impl->services) builder.RegisterService(service.get());
  const std::string place = bracketed(options.address) + ':' + std::to_string(options.port);
  builder.AddListeningPort(
      place, impl->certificates ? serverCredentials(impl->certificates) : grpc::InsecureServerCredentials(),
      &impl->port);
  impl->server = builder.BuildAndStart();
  if (impl->server == nullptr || impl->port == 0)
    return unavailable("gRPC cannot listen at " + place + " (--log-level debug says more)");
  impl->server->GetHealthCheckService()->SetServingStatus(true);
  impl->calls->watchWrites();
  return std::unique_ptr<RpcServer>(new RpcServer(std::move(impl)));
}

int RpcServer::port() const {
  return impl_->port;
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
  impl_->server->GetHealthCheckService()->SetServingStatus(false);
  impl_->calls->close(why);
  impl_->stopper = std::thread([impl = impl_.get(), stopped = std::move(stopped)] {
    impl->server->Shutdown(std::chrono::system_clock::now() + kStopWithin);
    impl->loop.post(stopped);
  });
}

}  // namespace pop::popdistd
