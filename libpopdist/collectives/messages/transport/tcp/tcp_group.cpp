// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/messages/transport/tcp/tcp_group.h"

#include <poll.h>

#include "common/base/text.h"

namespace popdist::transport {
namespace {

// A rank that comes to the call a little later finds no listener, and no other rank may dial it: without this
// it would never hear the reason. One that does not dial in this call costs the others so much.
constexpr std::chrono::milliseconds kLateDiallers{300};

pop::Result<SocketAddress> parseAddress(const std::string& text) {
  const std::vector<std::string> parts = pop::split(text, ' ');
  if (parts.size() != 2) return pop::internalError("unreadable TCP address " + pop::inQuotes(text));
  POP_ASSIGN_OR_RETURN(const std::int64_t port, pop::parseInteger(parts[1]));
  if (port < 1 || port > 0xffff) return pop::internalError("no port: " + pop::inQuotes(text));
  return SocketAddress::parse(parts[0], static_cast<int>(port));
}

}  // namespace

TcpGroup::TcpGroup(const TcpSetup& setup, SocketAddress listening, pop::sys::Fd listener,
                   SocketSleeper& sleeper)
    : listening_(listening),
      common_{.setup = setup,
              .own = SocketAddress::parse(setup.own_address, 0).value(),
              .reception = &reception_,
              .sleeper = &sleeper},
      reception_(setup.job, std::move(listener), sleeper,
                 [this](const Introduction& introduction, AcceptedStream stream) {
                   return admit(introduction, std::move(stream));
                 }) {}

pop::Result<std::unique_ptr<TcpGroup>> TcpGroup::create(const TcpSetup& setup, SocketSleeper& sleeper) {
  POP_ASSIGN_OR_RETURN(SocketAddress listening, SocketAddress::parse(setup.own_address, 0));
  POP_ASSIGN_OR_RETURN(pop::sys::Fd listener, listenOn(listening, setup.congestion_control));
  return std::unique_ptr<TcpGroup>(new TcpGroup(setup, listening, std::move(listener), sleeper));
}

std::string TcpGroup::address() const {
  return listening_.text() + ' ' + std::to_string(listening_.port());
}

pop::Status TcpGroup::connect(std::span<const int> local_ranks, std::span<const std::string> addresses) {
  for (std::size_t peer = 0; peer < addresses.size(); ++peer) {
    if (addresses[peer].empty()) continue;
    POP_ASSIGN_OR_RETURN(const SocketAddress address, parseAddress(addresses[peer]));
    for (const int rank : local_ranks) {
      const int other = static_cast<int>(peer);
      if (rank != other) connections_.try_emplace({rank, other}, common_, rank, other, address);
    }
  }
  return {};
}

void TcpGroup::callAll(std::chrono::milliseconds timeout, const std::function<void(Connection&)>& up) {
  const auto begin = std::chrono::steady_clock::now();
  for (bool any = true; any;) {
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited >= timeout) return;
    any = false;
    for (auto& [ranks, connection] : connections_) {
      any |= connection.call() || (waited < kLateDiallers && connection.awaitsDialler());
      if (connection.isUp()) up(connection);
    }
    reception_.receive();
    any |= reception_.expectsProofs();
    if (any) ::poll(nullptr, 0, 1);
  }
}

bool TcpGroup::admit(const Introduction& introduction, AcceptedStream stream) {
  const std::pair key(static_cast<int>(introduction.to), static_cast<int>(introduction.from));
  const auto found = connections_.find(key);
  const bool wanted = introduction.group == common_.setup.group && found != connections_.end() &&
                      introduction.from < introduction.to;
  return wanted && found->second.adopt(introduction.stream, std::move(stream));
}

}  // namespace popdist::transport
