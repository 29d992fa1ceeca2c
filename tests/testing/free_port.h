// SPDX-License-Identifier: Apache-2.0
// TCP ports of this machine without a listener.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "common/sys/fd.h"

namespace pop::testing {

/// True if no process has the port, on any address.
inline bool isFree(int port) {
  const sys::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

/// All different. They stay free until a process binds one of them by its number: they are below those that
/// Linux gives to sockets that ask for any, or connect.
inline std::vector<int> freePorts(int count) {
  constexpr int kLowest = 10'000;
  constexpr int kHighest = 32'767;
  static std::mt19937 random(std::random_device{}());
  std::uniform_int_distribution<int> any(kLowest, kHighest);
  std::set<int> found;
  std::vector<int> ports;
  while (ports.size() < static_cast<std::size_t>(count)) {
    const int port = any(random);
    if (isFree(port) && found.insert(port).second) ports.push_back(port);
  }
  return ports;
}

/// The first of `count` ports that follow each other; likewise.
inline int freePortsInARow(int count) {
  while (true) {
    const int first = freePorts(1).front();
    int found = 1;
    while (found < count && isFree(first + found)) ++found;
    if (found == count) return first;
  }
}

inline int freePort() {
  return freePorts(1).front();
}

}  // namespace pop::testing
