// SPDX-License-Identifier: Apache-2.0
// Numeric IPv4 and IPv6 addresses with ports, and the few calls that take them. No name is looked up.
#pragma once

#include <sys/socket.h>

#include <string>

#include "common/base/status.h"
#include "common/sys/fd.h"

namespace popdist::transport {

/// Send buffer of each of the sockets that are made here, as far as net.core.wmem_max lets: room for what is
/// sent in one call. Several streams carry more. As much as the kernel would take by itself (4 MiB) has left
/// the caches by the time it is received.
inline constexpr int kSendBufferBytes = 512 << 10;

class SocketAddress {
 public:
  SocketAddress() = default;

  /// "10.1.2.3", "fd00::2", or "fe80::2%eth0" with an interface of this host. kInvalidArgument otherwise.
  static pop::Result<SocketAddress> parse(const std::string& address, int port);
  /// The address without the port, in the form that parse() takes.
  std::string text() const;
  int port() const;
  /// This address as it is reached from `own`: a link-local one is on the link that `own` is on.
  SocketAddress seenFrom(const SocketAddress& own) const;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t length() const { return length_; }

 private:
  friend pop::Result<pop::sys::Fd> listenOn(SocketAddress& address, const std::string& congestion_control);

  sockaddr_storage storage_{};
  socklen_t length_ = 0;
};

/// Sets the options of every socket before it connects or listens; accepted ones inherit them.
/// kFailedPrecondition: the kernel does not offer this congestion control.
pop::Status tune(int socket, const std::string& congestion_control = {});

/// A non-blocking listening socket at `address`; a port of 0 is replaced by one that the kernel chooses.
/// `congestion_control`, also of what is accepted there: its name in the kernel; empty: the system's choice,
/// unless that is BBR (docs/adr/0030).
pop::Result<pop::sys::Fd> listenOn(SocketAddress& address, const std::string& congestion_control = {});

/// A non-blocking socket that is being connected from `own` (any port) to `peer`: writable once it is, or has
/// failed. `congestion_control` as above.
pop::Result<pop::sys::Fd> beginConnecting(const SocketAddress& own, const SocketAddress& peer,
                                          const std::string& congestion_control = {});

/// Accepts the next pending connection at `listener`; an invalid Fd: there is none. Not ok: the process or
/// the system lacks a resource for it.
pop::Result<pop::sys::Fd> acceptNext(int listener);

}  // namespace popdist::transport
