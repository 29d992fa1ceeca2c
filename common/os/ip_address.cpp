// SPDX-License-Identifier: Apache-2.0
#include "common/os/ip_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cstring>
#include <utility>

#include "common/sys/fd.h"

namespace pop::os {

IpBytes parseIp(const std::string& text) {
  for (const auto& [family, length] : {std::pair{AF_INET, 4}, std::pair{AF_INET6, 16}}) {
    IpBytes bytes(static_cast<std::size_t>(length));
    if (::inet_pton(family, text.c_str(), bytes.data()) == 1) return bytes;
  }
  return {};
}

std::string ipText(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* const bytes =
      address.sa_family == AF_INET
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in&>(address).sin_addr)
          : &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  return ::inet_ntop(address.sa_family, bytes, text.data(), text.size()) == nullptr ? "" : text.data();
}

std::string ownAddressTowards(const std::string& peer) {
  const IpBytes bytes = parseIp(peer);
  if (bytes.empty()) return {};
  sockaddr_storage storage{};
  socklen_t length = 0;
  constexpr in_port_t kAnyPort = 9;
  if (bytes.size() == 4) {
    auto* const address = reinterpret_cast<sockaddr_in*>(&storage);
    address->sin_family = AF_INET;
    address->sin_port = kAnyPort;
    std::memcpy(&address->sin_addr, bytes.data(), bytes.size());
    length = sizeof(sockaddr_in);
  } else {
    auto* const address = reinterpret_cast<sockaddr_in6*>(&storage);
    address->sin6_family = AF_INET6;
    address->sin6_port = kAnyPort;
    std::memcpy(&address->sin6_addr, bytes.data(), bytes.size());
    length = sizeof(sockaddr_in6);
  }
  const sys::Fd socket(::socket(storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  auto* const generic = reinterpret_cast<sockaddr*>(&storage);
  if (!socket.valid() || ::connect(socket.get(), generic, length) != 0) return {};
  length = sizeof(storage);
  if (::getsockname(socket.get(), generic, &length) != 0) return {};
  return ipText(*generic);
}

}  // namespace pop::os
