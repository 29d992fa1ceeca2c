// SPDX-License-Identifier: Apache-2.0
// Sleeps until one of several sockets is ready or a peer on this host rings: for groups that have connections
// of both kinds.
#pragma once

#include <poll.h>

#include <optional>
#include <vector>

#include "libpopdist/collectives/messages/transport/shm/doorbell.h"
#include "libpopdist/collectives/messages/transport/transport.h"

namespace popdist::transport {

class SocketSleeper final : public Sleeper {
 public:
  /// Is also woken through `doorbell`.
  pop::Status listenTo(Doorbell* doorbell);

  /// Called when `socket` is not ready for `events` (as in poll): between prepare() and the sleep this is
  /// what the sleep waits for. So only sockets count that have just been tried.
  void awaiting(int socket, short events) {
    if (preparing_) awaited_.push_back({socket, events, 0});
  }

  int spins() const override { return 40; }  // each a system call
  void prepare() override;
  void waitForRing(std::chrono::milliseconds limit) override;
  void cancel() override;

 private:
  bool preparing_ = false;
  std::vector<pollfd> awaited_;
  Doorbell* doorbell_ = nullptr;
  std::optional<WakeSocket> wake_socket_;
};

}  // namespace popdist::transport
