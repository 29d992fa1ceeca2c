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

constexpr std::chrono::milliseconds kLongestWait{50};

// Anyone on the network may dial; who has been told the secret is a member.
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

/// Nothing by any stream, for those that are refused.
class RefusedStream final : public grpc::ServerGenericBidiReactor {
 public:
  RefusedStream() { Finish({grpc::StatusCode::PERMISSION_DENIED, "not a member of this communicator"}); }
  void OnDone() override { delete this; }
};

// A library of the same name is loaded once: the program's log is this one's, then.
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

pop::Status GrpcFabric::connect(const std::vector<std::string>& addresses, Deadline) {
  for (const std::string& address : addresses) {
    if (address.find(' ') != secret_.size()) return pop::internalError("'" + address + "' is no address");
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

bool GrpcFabric::trySend(int to, const Frame& frame) {
  return streamTo(to).trySend(frame);
}

std::optional<Frame> GrpcFabric::front(int from) {
  const std::lock_guard lock(shared_.mutex);
  const Inbox& inbox = inboxes_[static_cast<std::size_t>(from)];
  if (inbox.frames.empty()) return std::nullopt;
  return frameIn(inbox.frames.front());  // stays in place: gRPC's threads only add behind it
}

void GrpcFabric::pop(int from) {
  std::unique_lock lock(shared_.mutex);
  Inbox& inbox = inboxes_[static_cast<std::size_t>(from)];
  inbox.frames.pop_front();
  ++inbox.taken;
  if (inbox.stream != nullptr) inbox.stream->sendReceipt(std::move(lock));
}

bool GrpcFabric::allSent() {
  return std::all_of(streams_.begin(), streams_.end(),
                     [](const auto& stream) { return !stream || stream->allArrived(); });
}

void GrpcFabric::wait() {
  std::unique_lock lock(shared_.mutex);
  shared_.changed.wait_for(lock, kLongestWait, [this] { return shared_.changes != seen_; });
  seen_ = shared_.changes;
}

std::string GrpcFabric::broken(int peer) {
  const auto& stream = streams_[static_cast<std::size_t>(peer)];
  if (stream && !stream->broken().empty()) return stream->broken();
  const std::lock_guard lock(shared_.mutex);
  return inboxes_[static_cast<std::size_t>(peer)].ended ? "its stream has ended" : "";
}

void GrpcFabric::tell(std::span<const std::byte> note) {
  const Frame frame{.head = {.key = kNoteKey}, .payload = note};
  for (int rank = 0; rank < info_.ranks; ++rank) {
    if (rank != info_.rank) streamTo(rank).send(frame);
  }
}

std::optional<std::vector<std::byte>> GrpcFabric::nextNote() {
  const std::lock_guard lock(shared_.mutex);
  for (Inbox& inbox : inboxes_) {
    if (inbox.notes.empty()) continue;
    std::vector<std::byte> note = std::move(inbox.notes.front());
    inbox.notes.pop_front();
    return note;
  }
  return std::nullopt;
}

}  // namespace popdist::backends
