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

#include "libpopdist/src/transport/tcp/tcp_connection.h"

namespace popdist::transport {

class TcpGroup {
 public:
  /// Starts to listen. `sleeper` outlives the group.
  static pop::Result<std::unique_ptr<TcpGroup>> create(const TcpSetup& setup, SocketSleeper& sleeper);

  /// What the others need to reach the ranks of this process: "10.1.2.3 41234".
  std::string address() const;

  /// `addresses[r]` is the address of rank r's process; empty: not reached over TCP. Once, before any
  /// connection is used.
  pop::Status connect(std::span<const int> local_ranks, std::span<const std::string> addresses);

  /// Gets on with who has come, as connections that are not up yet do themselves.
  void receivePending() { reception_.receive(); }

  /// Connects to all with whom there is no connection yet and who wait for us to make it, and lets in who is
  /// about to come, as far as that can be done within `timeout`. `up` has each connection as soon as it is
  /// there, again and again.
  void callAll(
      std::chrono::milliseconds timeout, const std::function<void(Connection&)>& up = [](Connection&) {});

  /// Nobody is let in any more. Connections are abandoned one by one.
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
