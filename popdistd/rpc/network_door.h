// SPDX-License-Identifier: Apache-2.0
// Accepts the connections of the network for gRPC: gRPC's own listener stops for ever once the process has no
// descriptor left, and takes all that come. Included by this folder only; on the loop's thread.
//
// The first bytes of a connection name its client: until then it counts for no client's share, since the
// socket's address may be that of a popdistd that passes on what comes from many. So newcomers are never
// turned away for those that say nothing.
#pragma once

#include <grpcpp/server_builder.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/agent_service/limited_notes.h"
#include "common/os/epoll_loop.h"
#include "common/os/tcp.h"
#include "common/sys/fd.h"
#include "popdistd/net/arrival.h"
#include "popdistd/rpc/connections.h"

namespace pop::popdistd {

struct DoorSettings {
  std::shared_ptr<Connections> connections;
  std::shared_ptr<HeaderCheck> headers;
  std::chrono::milliseconds arrival_timeout;  ///< for the first byte, or the whole header
  /// Beyond it, the oldest arrival of the address with the most arrivals gives way.
  std::size_t most_arriving;
};

class NetworkDoor {
 public:
  using Acceptor = grpc::experimental::ExternalConnectionAcceptor;

  /// `loop` outlives it. `to`: of a server that runs.
  NetworkDoor(os::EpollLoop& loop, os::Listener listener, DoorSettings settings,
              std::unique_ptr<Acceptor> to);
  ~NetworkDoor();
  NetworkDoor(const NetworkDoor&) = delete;
  NetworkDoor& operator=(const NetworkDoor&) = delete;

  int port() const { return listener_.port; }

 private:
  // Nothing of it is gRPC's yet.
  struct Arriving {
    Arriving(sys::Fd accepted, std::shared_ptr<HeaderCheck> headers, const End& peer, TimerId at)
        : connection(std::move(accepted)),
          arrival(std::move(headers), connection.get(), peer),
          deadline(at) {}
    sys::Fd connection;
    Arrival arrival;
    const TimerId deadline;
  };

  void watch();
  void acceptSome();
  void acceptLater(int error_number);
  void take(os::AcceptedConnection pending);
  void limitArriving();
  void look(std::uint64_t number);
  // Its socket, which is watched no longer.
  sys::Fd endArrival(std::uint64_t number);
  void handOver(sys::Fd socket, const End& peer, const End& client);
  void turnAway(const End& client, const Status& why);

  os::EpollLoop& loop_;
  const os::Listener listener_;
  const DoorSettings settings_;
  const std::unique_ptr<Acceptor> to_;
  std::uint64_t taken_ = 0;
  std::map<std::uint64_t, Arriving> arriving_;        ///< the oldest first
  std::map<std::string, std::size_t> arriving_from_;  ///< by address
  std::optional<TimerId> pause_;
  wire::LimitedNotes turned_away_;
};

}  // namespace pop::popdistd
