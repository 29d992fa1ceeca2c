// SPDX-License-Identifier: Apache-2.0
// Resolves a host's name to its addresses, without blocking the calling thread.
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

/// The address as text: "10.0.0.1", "fd00::1". An IPv4-mapped IPv6 address is given as IPv4.
std::string numeric(const Address& address);

/// Resolves a name, with the signature of ::getaddrinfo.
using Resolver =
    std::function<int(const char* host, const char* port, const addrinfo* hints, addrinfo** found)>;

/// One lookup. Numeric addresses are ready at once. A name is resolved on its own thread, which is never
/// joined: the resolver cannot be interrupted, and a name server may take long to answer.
class NameLookup {
 public:
  NameLookup(const std::string& host, int port, Resolver resolver = ::getaddrinfo);

  /// -1: the outcome is ready; otherwise readable once it is.
  int event() const;

  /// The outcome, once it is ready. kNotFound: no such name. kUnavailable: no name server answered.
  Result<std::vector<Address>> addresses() const;

 private:
  struct State;
  std::string host_;
  std::shared_ptr<State> state_;
};

}  // namespace pop::os
