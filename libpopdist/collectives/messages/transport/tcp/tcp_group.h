// SPDX-License-Identifier: Apache-2.0
// The connections of a group of ranks over TCP. A process may hold several ranks; it listens at one address
// for all of them. Connections are made when a plan first uses them, within the deadline of its call.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libpopdist/collectives/messages/transport/tcp/tcp_connection.h"

namespace popdist::transport {

class TcpGroup {
 public:
  /// Starts to listen. `sleeper` outlives the group.
  static pop::Result<std::unique_ptr<TcpGroup>> create(const TcpSetup& setup, SocketSleeper& sleeper);

  /// The address at which others reach the ranks of this process: "10.1.2.3 41234".
  std::string address() const;

  /// `addresses[r]` is the address of rank r's process; empty: not reached over TCP. Once, before any
  /// connection is used.
  pop::Status connect(std::span<const int> local_ranks, std::span<const std::string> addresses);

  /// Advances pending connections, as connections that are not up yet do by themselves.
  void receivePending() { reception_.receive(); }

  /// Connects to all peers that wait for us to dial, and accepts those that are about to dial, as far as that
  /// can be done within `timeout`; of peers that have not begun to dial, within 300 ms. Calls `up` with each
  /// connection as soon as it is there, possibly repeatedly.
  void callAll(
      std::chrono::milliseconds timeout, const std::function<void(Connection&)>& up = [](Connection&) {});

  /// Accepts no more connections. Existing ones are closed one by one.
  void close() { reception_.close(); }

  Connection& connection(int local_rank, int peer) { return connections_.at({local_rank, peer}); }

 private:
  TcpGroup(const TcpSetup& setup, SocketAddress listening, pop::sys::Fd listener, SocketSleeper& sleeper);
  bool admit(const Introduction& introduction, AcceptedStream stream);

  const SocketAddress listening_;
  TcpConnection::Common common_;
  Reception reception_;
  std::map<std::pair<int, int>, TcpConnection> connections_;  ///< by local rank and peer
};

}  // namespace popdist::transport
