// SPDX-License-Identifier: Apache-2.0
// Several TCP ports of this machine that nobody listens at.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
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

/// The first of `count` ports that are free and follow each other; likewise.
inline int freePortsInARow(int count) {
  while (true) {
    const int first = freePorts(1).front();
    int port = first;
    for (; port < first + count; ++port) {
      const sys::Fd taken(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      address.sin_port = htons(static_cast<std::uint16_t>(port));
      if (::bind(taken.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) break;
    }
    if (port == first + count) return first;
  }
}

}  // namespace pop::testing
