// SPDX-License-Identifier: Apache-2.0
// Accepts the connections of the network for gRPC: gRPC's own listener stops for ever once the process has no
// descriptor left, and takes whoever comes. Included by this folder only; on the loop's thread.
#pragma once

#include <grpcpp/server_builder.h>

#include <chrono>
#include <memory>
#include <optional>
#include <unordered_map>

#include "common/os/epoll_loop.h"
#include "common/os/tcp.h"
#include "common/service/limited_notes.h"
#include "common/sys/fd.h"
#include "popdistd/net/arrival.h"
#include "popdistd/rpc/connections.h"

namespace pop::popdistd {

struct DoorSettings {
  std::shared_ptr<Connections> connections;
  std::shared_ptr<HeaderCheck> headers;
  std::chrono::milliseconds arrival_timeout;  ///< for the first byte, or the whole header
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
  void look(int socket);
  // Its socket, which is watched no longer.
  sys::Fd endArrival(int socket);
  void handOver(sys::Fd socket, const End& peer, const End& client);
  void turnAway(const End& client, const Status& why);

  os::EpollLoop& loop_;
  const os::Listener listener_;
  const DoorSettings settings_;
  const std::unique_ptr<Acceptor> to_;
  std::unordered_map<int, Arriving> arriving_;  ///< by descriptor
  std::optional<TimerId> pause_;
  wire::LimitedNotes turned_away_;
};

}  // namespace pop::popdistd
