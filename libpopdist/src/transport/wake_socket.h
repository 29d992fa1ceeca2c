// SPDX-License-Identifier: Apache-2.0
// Wakes a process of this host that sleeps on sockets: a Unix datagram socket with a name that the kernel
// chose.
#pragma once

#include <cstdint>

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace popdist::transport {

class WakeSocket {
 public:
  static pop::Result<WakeSocket> open();

  int fd() const { return socket_.get(); }
  std::uint64_t name() const { return name_; }
  /// Takes what has woken us.
  void drain();

  /// Makes the socket of that name readable. Anybody in this network namespace can: to be woken means nothing
  /// more than to look again.
  static void wake(std::uint64_t name);

 private:
  WakeSocket(pop::sys::Fd socket, std::uint64_t name) : socket_(std::move(socket)), name_(name) {}

  pop::sys::Fd socket_;
  std::uint64_t name_ = 0;
};

}  // namespace popdist::transport
