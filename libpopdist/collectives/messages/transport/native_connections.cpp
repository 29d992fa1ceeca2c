// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/messages/transport/native_connections.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/text.h"

namespace popdist::transport {
namespace {

// "<address in shared memory>|<TCP address>", either may be empty.
constexpr char kBetweenParts = Connections::kBeforeHost;

pop::Status differentTransports(std::size_t rank) {
  return pop::failedPrecondition("rank " + std::to_string(rank) +
                                 " offers no address for the transport that this instance uses: set the same "
                                 "POPDIST_TRANSPORT for all instances");
}

}  // namespace

class NativeConnections::Local final : public Endpoint {
 public:
  Local(int rank, std::size_t ranks) : rank_(rank), peers_(ranks) {}

  Connection& peer(int rank) override { return *peers_[static_cast<std::size_t>(rank)]; }

  int rank() const { return rank_; }
  std::vector<Connection*>& peers() { return peers_; }

 private:
  const int rank_;
  std::vector<Connection*> peers_;
};

NativeConnections::NativeConnections(const NativeSetup& setup)
    : local_ranks_(setup.local_ranks),
      through_memory_(setup.through_memory),
      call_timeout_(setup.call_timeout) {}

NativeConnections::~NativeConnections() = default;

pop::Result<std::unique_ptr<Connections>> NativeConnections::create(const NativeSetup& setup) {
  std::unique_ptr<NativeConnections> result(new NativeConnections(setup));
  const auto in_memory = std::count(setup.through_memory.begin(), setup.through_memory.end(), true);
  if (in_memory > 0) {
    std::vector<int> indices;
    for (const int rank : setup.local_ranks) indices.push_back(result->indexInMemory(rank));
    POP_ASSIGN_OR_RETURN(result->shm_, ShmGroup::create(setup.segment, static_cast<int>(in_memory), indices));
  }
  if (static_cast<std::size_t>(in_memory) < setup.through_memory.size()) {
    POP_ASSIGN_OR_RETURN(result->tcp_, TcpGroup::create(setup.tcp, result->sleeper_));
    if (result->shm_) POP_RETURN_IF_ERROR(result->sleeper_.listenTo(result->shm_->doorbell()));
  }
  return std::unique_ptr<Connections>(std::move(result));
}

int NativeConnections::indexInMemory(int rank) const {
  const auto end = through_memory_.begin() + rank;
  return static_cast<int>(std::count(through_memory_.begin(), end, true));
}

std::string NativeConnections::address(int rank) const {
  return (shm_ ? shm_->address(indexInMemory(rank)) : "") + kBetweenParts + (tcp_ ? tcp_->address() : "");
}

pop::Status NativeConnections::connect(std::span<const std::string> addresses) {
  POP_CHECK(addresses.size() == through_memory_.size());
  std::vector<std::string> memory_parts;
  std::vector<std::string> tcp_parts;
  for (std::size_t rank = 0; rank < addresses.size(); ++rank) {
    std::vector<std::string> parts = pop::split(addresses[rank], kBetweenParts);
    if (parts.size() != 2) return pop::internalError("unreadable address " + pop::inQuotes(addresses[rank]));
    if (parts[through_memory_[rank] ? 0 : 1].empty()) return differentTransports(rank);
    tcp_parts.push_back(through_memory_[rank] ? "" : std::move(parts[1]));
    if (through_memory_[rank]) memory_parts.push_back(std::move(parts[0]));
  }
  if (shm_) POP_RETURN_IF_ERROR(shm_->connect(memory_parts));
  if (tcp_) POP_RETURN_IF_ERROR(tcp_->connect(local_ranks_, tcp_parts));
  for (const int rank : local_ranks_) {
    locals_.push_back(std::make_unique<Local>(rank, addresses.size()));
    for (std::size_t peer = 0; peer < addresses.size(); ++peer) {
      const int other = static_cast<int>(peer);
      if (other == rank) continue;
      locals_.back()->peers()[peer] = through_memory_[peer]
                                          ? &shm_->endpoint(indexInMemory(rank)).peer(indexInMemory(other))
                                          : &tcp_->connection(rank, other);
    }
  }
  return {};
}

// Sends the abort message to all at once: a peer that does not answer may be waiting, through memory, for
// another rank of its host that does answer, and learns of the end from that one.
void NativeConnections::abandon(std::span<const std::byte> abort_message, bool to_all) {
  if (tcp_ && to_all) tcp_->callAll(call_timeout_, [&](Connection& peer) { peer.abandon(abort_message); });
  for (const auto& local : locals_) {
    for (Connection* const peer : local->peers()) {
      if (peer != nullptr) peer->abandon(abort_message);
    }
  }
  if (tcp_) tcp_->close();
}

Endpoint& NativeConnections::endpoint(int local_rank) {
  for (const auto& local : locals_) {
    if (local->rank() == local_rank) return *local;
  }
  POP_CHECK(false);
}

Sleeper& NativeConnections::sleeper() {
  if (tcp_) return sleeper_;
  return shm_->sleeper();
}

}  // namespace popdist::transport
