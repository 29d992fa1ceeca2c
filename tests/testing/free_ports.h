// SPDX-License-Identifier: Apache-2.0
// Several TCP ports of this machine that nobody listens at.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <vector>

#include "common/sys/fd.h"

namespace pop::testing {

/// All different. They stay free until somebody else takes them.
inline std::vector<int> freePorts(int count) {
  std::vector<sys::Fd> held;
  std::vector<int> ports;
  for (int i = 0; i < count; ++i) {
    held.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    ::bind(held.back().get(), reinterpret_cast<const sockaddr*>(&address), size);
    ::getsockname(held.back().get(), reinterpret_cast<sockaddr*>(&address), &size);
    ports.push_back(ntohs(address.sin_port));
  }
  return ports;
}

}  // namespace pop::testing
