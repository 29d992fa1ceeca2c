// SPDX-License-Identifier: Apache-2.0
// TCP sockets of the loopback address, for both ends.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "common/sys/fd.h"

namespace pop::testing {

inline sockaddr_in loopbackAddress(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Listens, non-blocking.
inline sys::Fd listenOnLoopback() {
  sys::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_in address = loopbackAddress(0);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(::listen(socket.get(), 64), 0);
  return socket;
}

inline int portOf(const sys::Fd& socket) {
  sockaddr_in address{};
  socklen_t bytes = sizeof(address);
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &bytes), 0);
  return ntohs(address.sin_port);
}

/// Blocking. Invalid: there is no listener.
inline sys::Fd connectToLoopback(int port) {
  sys::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopbackAddress(port);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    socket.reset();
  return socket;
}

/// Sends as much of `bytes` as there is room for.
inline std::size_t offer(const sys::Fd& socket, std::string_view bytes) {
  const ssize_t sent = ::send(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent < 0 ? 0 : static_cast<std::size_t>(sent);
}

/// Appends what has arrived to `bytes`; false: the other side has ended the stream, or broken the connection.
inline bool take(const sys::Fd& socket, std::string& bytes) {
  char buffer[64 << 10];
  const ssize_t got = ::recv(socket.get(), buffer, sizeof(buffer), MSG_DONTWAIT);
  if (got > 0) bytes.append(buffer, static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EAGAIN);
}

}  // namespace pop::testing
