// SPDX-License-Identifier: Apache-2.0
#include "agent/host_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>

#include "common/base/text.h"
#include "common/sys/fd.h"

namespace pop::agent {
namespace {

// The bytes of an address in network order: 4 or 16.
using Bytes = std::vector<std::uint8_t>;

Bytes parseAddress(const std::string& text) {
  for (const auto& [family, length] : {std::pair{AF_INET, 4}, std::pair{AF_INET6, 16}}) {
    Bytes bytes(static_cast<std::size_t>(length));
    if (::inet_pton(family, text.c_str(), bytes.data()) == 1) return bytes;
  }
  return {};
}

std::string textOf(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* const bytes =
      address->sa_family == AF_INET
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr)
          : &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  return ::inet_ntop(address->sa_family, bytes, text.data(), text.size()) == nullptr ? "" : text.data();
}

bool isLinkLocal(const sockaddr* address) {
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

bool sameBits(const Bytes& a, const Bytes& b, int bits) {
  const auto whole = static_cast<std::size_t>(bits / 8);
  if (std::memcmp(a.data(), b.data(), whole) != 0) return false;
  const int rest = bits % 8;
  return rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0;
}

struct Subnet {
  Bytes network;
  int bits = 0;

  bool contains(const std::string& address) const {
    const Bytes bytes = parseAddress(address);
    return bytes.size() == network.size() && sameBits(bytes, network, bits);
  }
};

Result<Subnet> parseSubnet(const std::string& text) {
  const std::size_t slash = text.find('/');
  Subnet subnet{parseAddress(text.substr(0, slash)), 0};
  const int longest = static_cast<int>(subnet.network.size()) * 8;
  const Result<std::int64_t> bits =
      slash == std::string::npos ? Result<std::int64_t>(longest) : parseInteger(text.substr(slash + 1));
  if (subnet.network.empty() || !bits.ok() || bits.value() < 0 || bits.value() > longest)
    return invalidArgument("--host-subnet: " + inQuotes(text) + " is no network (10.1.0.0/16, fd00::/64)");
  subnet.bits = static_cast<int>(bits.value());
  return subnet;
}

// Our end of a connection to `peer`, as the kernel would route it; nothing is sent. Empty: no route.
std::string addressTowards(const std::string& peer) {
  const Bytes bytes = parseAddress(peer);
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
  return textOf(generic);
}

// For the routes that lead to others, and not to this host itself or to those at one link.
bool reachesOthers(const std::string& address) {
  const Bytes bytes = parseAddress(address);
  if (bytes.size() == 4) return bytes[0] != 127;
  const bool link_local = bytes.size() == 16 && bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
  return bytes.size() == 16 && address != "::1" && !link_local;
}

bool has(std::span<const std::string> addresses, const std::string& address) {
  return std::find(addresses.begin(), addresses.end(), address) != addresses.end();
}

}  // namespace

std::vector<std::string> ownAddresses() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> list(first, ::freeifaddrs);
  std::vector<std::string> addresses;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0 || (each->ifa_flags & IFF_LOOPBACK) != 0)
      continue;
    const int family = each->ifa_addr->sa_family;
    if ((family != AF_INET && family != AF_INET6) || isLinkLocal(each->ifa_addr)) continue;
    addresses.push_back(textOf(each->ifa_addr));
  }
  return addresses;
}

Result<std::string> hostAddress(const AddressHints& hints) {
  const std::string towards = addressTowards(hints.controller_at);
  // The service's jobs, which know nothing else: asking the kernel for all addresses costs more than all the
  // rest.
  if (hints.subnet.empty() && hints.reached_at.empty() && reachesOthers(towards)) return towards;
  const std::vector<std::string> own = ownAddresses();
  if (!hints.subnet.empty()) {
    POP_ASSIGN_OR_RETURN(const Subnet subnet, parseSubnet(hints.subnet));
    for (const std::string& address : own) {
      if (subnet.contains(address)) return address;
    }
    return failedPrecondition("no address of this host is in --host-subnet " + hints.subnet +
                              (own.empty() ? " (it has none at all)" : " (it has " + join(own, ", ") + ")"));
  }
  if (has(own, hints.reached_at)) return hints.reached_at;
  if (has(own, towards)) return towards;
  if (!own.empty()) return own.front();
  return failedPrecondition("this host has no address at which others could reach it");
}

}  // namespace pop::agent
