// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/messages/transport/wake_socket.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace popdist::transport {
namespace {

// The kernel's names are five digits after a zero byte (unix(7), "autobind feature").
constexpr std::size_t kDigits = 5;
constexpr auto kNamedLength = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + kDigits);

pop::sys::Fd datagramSocket() {
  return pop::sys::Fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

}  // namespace

pop::Result<WakeSocket> WakeSocket::open() {
  pop::sys::Fd socket = datagramSocket();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof(address);
  const bool bound = socket.valid() && ::bind(socket.get(), generic, sizeof(address.sun_family)) == 0 &&
                     ::getsockname(socket.get(), generic, &length) == 0;
  if (!bound) return pop::errnoStatus("creating the wake socket", errno);
  std::uint64_t name = 0;
  std::memcpy(&name, address.sun_path + 1, kDigits);
  return WakeSocket(std::move(socket), name);
}

void WakeSocket::drain() {
  std::array<char, 8> ignored;
  while (::recv(socket_.get(), ignored.data(), ignored.size(), 0) > 0) {
  }
}

void WakeSocket::wake(std::uint64_t name) {
  const pop::sys::Fd socket = datagramSocket();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, &name, kDigits);
  ::sendto(socket.get(), "!", 1, MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), kNamedLength);
}

}  // namespace popdist::transport
