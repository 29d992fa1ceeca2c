// SPDX-License-Identifier: Apache-2.0
// TCP on the loop: outgoing connections to hosts by name, and incoming ones. All sockets are non-blocking and
// send small writes at once.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/os/epoll_loop.h"
#include "common/os/name_lookup.h"
#include "common/sys/fd.h"

namespace pop::os {

/// The outcome of dialling.
struct Dialled {
  sys::Fd socket;        ///< connected; invalid: it failed
  Status lookup;         ///< why the name has no addresses
  int error_number = 0;  ///< else: why the first of them could not be connected to
};

/// Connects to one of a host's addresses.
class TcpDial {
 public:
  /// Calls `done` once, from the loop, within `timeout`, or not at all if destroyed before. The timeout is
  /// divided among the addresses, so that one that does not answer cannot use it up.
  TcpDial(EpollLoop& loop, const std::string& host, int port, std::chrono::milliseconds timeout,
          std::function<void(Dialled)> done, Resolver resolver = ::getaddrinfo);
  ~TcpDial();
  TcpDial(const TcpDial&) = delete;
  TcpDial& operator=(const TcpDial&) = delete;

 private:
  void begin();
  void tryNext();
  void settle();
  void giveUp(int error_number);
  void finish(Dialled dialled);
  void dropTimer();

  EpollLoop& loop_;
  const Clock::time_point deadline_;  ///< by the loop's timerTime()
  const std::function<void(Dialled)> done_;
  NameLookup lookup_;
  std::vector<Address> addresses_;
  std::size_t next_ = 0;
  int error_number_ = 0;  ///< of the first address
  sys::Fd socket_;
  std::optional<TimerId> timer_;
};

/// Listens at `address`, numeric or a name of this host; "::" accepts IPv4 as well. A port of 0 is replaced
/// by the port that the kernel chooses.
struct Listener {
  sys::Fd socket;
  int port = 0;
};
Result<Listener> listenAt(const std::string& address, int port);

/// Accepts a waiting connection. If the other machine disappears, the connection breaks within two minutes,
/// or, with unacknowledged data, when the system gives up (tcp_retries2).
struct AcceptedConnection {
  sys::Fd socket;  ///< invalid: no connection
  std::string address;
  int port = 0;          ///< of the other side
  int error_number = 0;  ///< why none could be taken, although one may wait: no descriptors, for one
};
AcceptedConnection acceptConnection(int listener);

}  // namespace pop::os
