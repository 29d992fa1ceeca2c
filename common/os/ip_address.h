// SPDX-License-Identifier: Apache-2.0
// Numeric addresses, and the address of this host that the kernel would use towards a peer.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pop::os {

/// The bytes in network order: 4 or 16 of them.
using IpBytes = std::vector<std::uint8_t>;

/// Parses "10.1.0.7" or "fd00::7"; empty if it is neither.
IpBytes parseIp(const std::string& text);

/// `address` is of AF_INET or AF_INET6.
std::string ipText(const sockaddr& address);

/// Returns this host's address for a connection to `peer`, a numeric address, as the kernel would route it;
/// sends nothing. Empty: there is no route, or `peer` is not an address.
std::string ownAddressTowards(const std::string& peer);

}  // namespace pop::os
