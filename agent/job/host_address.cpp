// SPDX-License-Identifier: Apache-2.0
#include "agent/job/host_address.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "common/base/text.h"
#include "common/os/ip_address.h"

namespace pop::agent {
namespace {

bool isLinkLocal(const sockaddr* address) {
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

bool sameBits(const os::IpBytes& a, const os::IpBytes& b, int bits) {
  const auto whole = static_cast<std::size_t>(bits / 8);
  if (std::memcmp(a.data(), b.data(), whole) != 0) return false;
  const int rest = bits % 8;
  return rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0;
}

struct Subnet {
  os::IpBytes network;
  int bits = 0;

  bool contains(const std::string& address) const {
    const os::IpBytes bytes = os::parseIp(address);
    return bytes.size() == network.size() && sameBits(bytes, network, bits);
  }
};

Result<Subnet> parseSubnet(const std::string& text) {
  const std::size_t slash = text.find('/');
  Subnet subnet{os::parseIp(text.substr(0, slash)), 0};
  const int longest = static_cast<int>(subnet.network.size()) * 8;
  const Result<std::int64_t> bits =
      slash == std::string::npos ? Result<std::int64_t>(longest) : parseInteger(text.substr(slash + 1));
  if (subnet.network.empty() || !bits.ok() || bits.value() < 0 || bits.value() > longest)
    return invalidArgument("--host-subnet: " + inQuotes(text) +
                           " is not a network (such as 10.1.0.0/16 or fd00::/64)");
  subnet.bits = static_cast<int>(bits.value());
  return subnet;
}

// True for addresses that other hosts may reach: neither loopback nor link-local.
bool reachesOthers(const std::string& address) {
  const os::IpBytes bytes = os::parseIp(address);
  if (bytes.size() == 4) return bytes[0] != 127;
  const bool link_local = bytes.size() == 16 && bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
  return bytes.size() == 16 && address != "::1" && !link_local;
}

bool has(std::span<const std::string> addresses, const std::string& address) {
  return std::find(addresses.begin(), addresses.end(), address) != addresses.end();
}

struct OwnAddress {
  std::string interface;
  std::string address;
};

std::vector<OwnAddress> addressesByInterface() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> list(first, ::freeifaddrs);
  std::vector<OwnAddress> addresses;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0 || (each->ifa_flags & IFF_LOOPBACK) != 0)
      continue;
    const int family = each->ifa_addr->sa_family;
    if ((family != AF_INET && family != AF_INET6) || isLinkLocal(each->ifa_addr)) continue;
    addresses.push_back({each->ifa_name, os::ipText(*each->ifa_addr)});
  }
  return addresses;
}

// The address in a network, or on the first interface that has one.
Result<std::string> addressIn(const std::string& where) {
  const std::vector<OwnAddress> own = addressesByInterface();
  if (where.find('/') != std::string::npos || !os::parseIp(where).empty()) {
    POP_ASSIGN_OR_RETURN(const Subnet subnet, parseSubnet(where));
    for (const OwnAddress& each : own) {
      if (subnet.contains(each.address)) return each.address;
    }
  } else {
    for (const std::string& interface : split(where, ',')) {
      for (const OwnAddress& each : own) {
        if (each.interface == interface) return each.address;
      }
    }
  }
  std::vector<std::string> there;
  for (const OwnAddress& each : own) there.push_back(each.address + " on " + each.interface);
  return failedPrecondition(
      "no address of this host is in --host-subnet " + where +
      (own.empty() ? " (this host has no address)" : " (this host has " + join(there, ", ") + ")"));
}

}  // namespace

// "CLIENT PORT SERVER PORT"
void AddressHints::takeSshConnection() {
  const char* const connection = std::getenv("SSH_CONNECTION");
  if (connection == nullptr) return;
  const std::vector<std::string> words = split(connection, ' ');
  // The connection must come from another host to this one; a container may have inherited the variable from
  // outside.
  if (words.size() != 4 || !has(ownAddresses(), words[2])) return;
  controller_at = words[0];
  reached_at = words[2];
}

std::vector<std::string> ownAddresses() {
  std::vector<std::string> addresses;
  for (OwnAddress& each : addressesByInterface()) addresses.push_back(std::move(each.address));
  return addresses;
}

Result<std::string> hostAddress(const AddressHints& hints) {
  const std::string towards = os::ownAddressTowards(hints.controller_at);
  // Jobs of the agent service have only controller_at, and asking the kernel for all addresses is expensive.
  if (hints.subnet.empty() && hints.reached_at.empty() && reachesOthers(towards)) return towards;
  if (!hints.subnet.empty()) return addressIn(hints.subnet);
  const std::vector<std::string> own = ownAddresses();
  if (has(own, hints.reached_at)) return hints.reached_at;
  if (has(own, towards)) return towards;
  if (!own.empty()) return own.front();
  return failedPrecondition("this host has no address that other hosts can reach");
}

}  // namespace pop::agent
