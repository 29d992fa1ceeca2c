// SPDX-License-Identifier: Apache-2.0
// From a host's name to its addresses, without holding up the thread that asks.
#pragma once

#include <netdb.h>
#include <sys/socket.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/status.h"

namespace pop::os {

struct Address {
  sockaddr_storage storage{};
  socklen_t bytes = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

/// "10.0.0.1", "fd00::1". An IPv4 address that comes as an IPv6 one is told as what it is.
std::string numeric(const Address& address);

/// Asks for a name, as ::getaddrinfo does.
using Resolver =
    std::function<int(const char* host, const char* port, const addrinfo* hints, addrinfo** found)>;

/// One look-up. Numeric addresses are known at once; a name is asked for on a thread of its own, which nobody
/// waits for: the resolver cannot be interrupted, and a name server that does not answer takes its time.
class NameLookup {
 public:
  NameLookup(const std::string& host, int port, Resolver resolver = ::getaddrinfo);

  /// -1: the outcome is there; else readable once it is.
  int event() const;

  /// kNotFound: there is no such name. kUnavailable: nobody could be asked. Once the outcome is there.
  Result<std::vector<Address>> addresses() const;

 private:
  struct State;
  std::string host_;
  std::shared_ptr<State> state_;
};

}  // namespace pop::os
