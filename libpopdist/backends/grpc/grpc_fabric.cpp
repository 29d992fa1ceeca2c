// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/backends/grpc/grpc_fabric.h"

#include <dlfcn.h>
#include <grpc/support/log.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string_view>
#include <utility>

namespace popdist::backends {
namespace {

// Anyone on the network may dial; only members know the secret.
std::string newSecret() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::random_device random;
  std::string secret;
  for (int i = 0; i < 32; ++i) secret += kDigits[random() % kDigits.size()];
  return secret;
}

std::string hostAndPort(const std::string& host, int port) {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? '[' + host + ']' : host) + ':' + std::to_string(port);
}

std::string schemeOf(const std::string& host) {
  return host.find(':') != std::string::npos ? "ipv6:" : "ipv4:";
}

/// Rejects every stream.
class RefusedStream final : public grpc::ServerGenericBidiReactor {
 public:
  RefusedStream() { Finish({grpc::StatusCode::PERMISSION_DENIED, "not a member of this communicator"}); }
  void OnDone() override { delete this; }
};

// A library of the same name is loaded only once, so the program may log through the gRPC library that this
// backend uses.
bool programHasGrpc() {
  return ::dlsym(::dlopen(nullptr, RTLD_LAZY), "gpr_set_log_function") != nullptr;
}

std::string metadataOf(const grpc::GenericCallbackServerContext& context, const char* name) {
  const auto found = context.client_metadata().find(name);
  return found == context.client_metadata().end() ? ""
                                                  : std::string(found->second.data(), found->second.size());
}

}  // namespace

const char* const kBackendName = "grpc";

pop::Result<std::unique_ptr<Fabric>> makeFabric(const PopdistGroupInfo& info) {
  if (std::getenv("GRPC_VERBOSITY") == nullptr && !programHasGrpc())
    gpr_set_log_function([](gpr_log_func_args*) {});
  return GrpcFabric::create(info);
}

pop::Result<std::unique_ptr<Fabric>> GrpcFabric::create(const PopdistGroupInfo& info) {
  std::unique_ptr<GrpcFabric> fabric(new GrpcFabric(info));
  if (pop::Status listening = fabric->listen(); !listening.ok()) return listening;
  return std::unique_ptr<Fabric>(std::move(fabric));
}

GrpcFabric::GrpcFabric(const PopdistGroupInfo& info)
    : info_(info),
      secret_(newSecret()),
      inboxes_(static_cast<std::size_t>(info.ranks)),
      released_(static_cast<std::size_t>(info.ranks)),
      streams_(static_cast<std::size_t>(info.ranks)) {}

GrpcFabric::~GrpcFabric() {
  streams_.clear();
  if (server_) server_->Shutdown(std::chrono::system_clock::now());
}

pop::Status GrpcFabric::listen() {
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddListeningPort(hostAndPort(info_.host_address, 0), grpc::InsecureServerCredentials(), &port);
  builder.RegisterCallbackGenericService(this);
  server_ = builder.BuildAndStart();
  if (!server_ || port == 0)
    return pop::unavailable("gRPC cannot listen on " + std::string(info_.host_address));
  target_ = schemeOf(info_.host_address) + hostAndPort(info_.host_address, port);
  return {};
}

// "<secret> <target>"
std::string GrpcFabric::address() const {
  return secret_ + ' ' + target_;
}

pop::Status GrpcFabric::connect(const std::vector<std::string>& addresses) {
  for (const std::string& address : addresses) {
    if (address.find(' ') != secret_.size())
      return pop::internalError("'" + address + "' is not an address of this backend");
  }
  addresses_ = addresses;
  return {};
}

OutgoingStream& GrpcFabric::streamTo(int rank) {
  std::unique_ptr<OutgoingStream>& stream = streams_[static_cast<std::size_t>(rank)];
  if (!stream) {
    const std::string& address = addresses_[static_cast<std::size_t>(rank)];
    stream = std::make_unique<OutgoingStream>(shared_, address.substr(secret_.size() + 1),
                                              address.substr(0, secret_.size()), info_.rank);
  }
  return *stream;
}

grpc::ServerGenericBidiReactor* GrpcFabric::CreateReactor(grpc::GenericCallbackServerContext* context) {
  const std::string rank = metadataOf(*context, kRankName);
  const std::lock_guard lock(shared_.mutex);
  for (std::size_t from = 0; from < inboxes_.size(); ++from) {
    Inbox& inbox = inboxes_[from];
    const bool is_new = inbox.stream == nullptr && !inbox.ended;
    if (std::to_string(from) == rank && is_new && metadataOf(*context, kSecretName) == secret_)
      return new IncomingStream(shared_, inbox);
  }
  return new RefusedStream;
}

std::size_t GrpcFabric::trySend(int to, std::span<const std::byte> first, std::span<const std::byte> second) {
  return streamTo(to).trySend(first, second);
}

std::span<const std::byte> GrpcFabric::tryReceive(int from) {
  const std::lock_guard lock(shared_.mutex);
  const Inbox& inbox = inboxOf(from);
  if (inbox.slices.empty()) return {};
  const grpc::Slice& slice = inbox.slices.front();  // stays in place: gRPC's threads only add behind it
  return std::as_bytes(std::span(slice.begin(), slice.size()))
      .subspan(released_[static_cast<std::size_t>(from)]);
}

void GrpcFabric::release(int from, std::size_t bytes) {
  std::unique_lock lock(shared_.mutex);
  Inbox& inbox = inboxOf(from);
  std::size_t& released = released_[static_cast<std::size_t>(from)];
  inbox.taken += bytes;
  released += bytes;
  if (released < inbox.slices.front().size()) return;
  released = 0;
  inbox.slices.pop_front();
  if (inbox.stream != nullptr) inbox.stream->sendReceipt(std::move(lock));
}

bool GrpcFabric::isDelivered(int to) {
  const auto& stream = streams_[static_cast<std::size_t>(to)];
  return !stream || stream->allArrived();
}

void GrpcFabric::wait(std::chrono::milliseconds timeout) {
  std::unique_lock lock(shared_.mutex);
  shared_.changed.wait_for(lock, timeout, [this] { return shared_.changes != seen_; });
  seen_ = shared_.changes;
}

pop::Status GrpcFabric::failure(int peer) {
  const auto& stream = streams_[static_cast<std::size_t>(peer)];
  if (stream && stream->isBroken()) return pop::unavailable("the stream to it ended");
  const std::lock_guard lock(shared_.mutex);
  if (inboxOf(peer).last) return pop::unavailable("it aborted the call");
  return inboxOf(peer).ended ? pop::unavailable("the stream from it ended") : pop::Status();
}

std::span<const std::byte> GrpcFabric::lastOf(int peer) {
  const std::lock_guard lock(shared_.mutex);
  const auto& last = inboxOf(peer).last;
  return last ? std::as_bytes(std::span(last->begin(), last->size())) : std::span<const std::byte>();
}

void GrpcFabric::close(int to, std::span<const std::byte> last) {
  streamTo(to).close(last);
}

}  // namespace popdist::backends
