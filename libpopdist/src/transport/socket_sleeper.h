// SPDX-License-Identifier: Apache-2.0
// Sleeps until one of some sockets is ready or a peer of this host rings: for groups that have connections of
// both kinds.
#pragma once

#include <poll.h>

#include <optional>
#include <vector>

#include "libpopdist/src/transport/shm/doorbell.h"
#include "libpopdist/src/transport/transport.h"

namespace popdist::transport {

class SocketSleeper final : public Sleeper {
 public:
  /// Also woken through `doorbell`.
  pop::Status listenTo(Doorbell* doorbell);

  /// By whoever finds that `socket` is not ready for `events` (poll's): between prepare() and sleep this is
  /// what is slept on. So only sockets count that somebody has just tried to use.
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
