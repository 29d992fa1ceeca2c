// SPDX-License-Identifier: Apache-2.0
// Numeric addresses, and which of our own the kernel would use towards somebody else's.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pop::os {

/// In network order: 4 or 16.
using IpBytes = std::vector<std::uint8_t>;

/// Of "10.1.0.7" or "fd00::7"; empty: it is neither.
IpBytes parseIp(const std::string& text);

/// `address` is of AF_INET or AF_INET6.
std::string ipText(const sockaddr& address);

/// Our end of a connection to `peer`, a numeric address, as the kernel would route it; nothing is sent.
/// Empty: there is no route, or `peer` is no address.
std::string ownAddressTowards(const std::string& peer);

}  // namespace pop::os
