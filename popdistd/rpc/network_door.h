// SPDX-License-Identifier: Apache-2.0
// Accepts the connections of the network for gRPC: gRPC's own listener stops for ever once the process has no
// descriptor left, and takes whoever comes. Included by this folder only; on the loop's thread.
#pragma once

#include <grpcpp/server_builder.h>

#include <memory>
#include <optional>

#include "common/os/epoll_loop.h"
#include "common/os/tcp.h"
#include "common/service/limited_notes.h"
#include "popdistd/rpc/connections.h"

namespace pop::popdistd {

class NetworkDoor {
 public:
  using Acceptor = grpc::experimental::ExternalConnectionAcceptor;

  /// `loop` outlives it. `to`: of a server that runs.
  NetworkDoor(os::EpollLoop& loop, os::Listener listener, std::shared_ptr<Connections> connections,
              std::unique_ptr<Acceptor> to);
  ~NetworkDoor();
  NetworkDoor(const NetworkDoor&) = delete;
  NetworkDoor& operator=(const NetworkDoor&) = delete;

  int port() const { return listener_.port; }

 private:
  void watch();
  void acceptSome();
  void acceptLater(int error_number);
  void take(os::AcceptedConnection pending);

  os::EpollLoop& loop_;
  const os::Listener listener_;
  const std::shared_ptr<Connections> connections_;
  const std::unique_ptr<Acceptor> to_;
  std::optional<TimerId> pause_;
  wire::LimitedNotes turned_away_;
};

}  // namespace pop::popdistd
