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
  /// Removes the datagrams that woke this process.
  void drain();

  /// Makes the socket of that name readable. Any process in this network namespace can do that: a wake-up
  /// means nothing more than to check again.
  static void wake(std::uint64_t name);

 private:
  WakeSocket(pop::sys::Fd socket, std::uint64_t name) : socket_(std::move(socket)), name_(name) {}

  pop::sys::Fd socket_;
  std::uint64_t name_ = 0;
};

}  // namespace popdist::transport
