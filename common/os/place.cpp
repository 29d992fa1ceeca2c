// SPDX-License-Identifier: Apache-2.0
#include "common/os/place.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

#include "common/base/text.h"

namespace pop::os {

Result<Place> parsePlace(const std::string& option, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const Result<std::int64_t> port = parseInteger(colon == std::string::npos ? "" : text.substr(colon + 1));
  const std::string address = text.substr(0, std::min(colon, text.size()));
  const bool bracketed = address.starts_with('[') && address.ends_with(']');
  const bool plain = !address.empty() && address.find_first_of("[]:") == std::string::npos;
  if (port.ok() && port.value() >= 0 && port.value() <= 65535 && (bracketed || plain))
    return Place{bracketed ? address.substr(1, address.size() - 2) : address, static_cast<int>(port.value())};
  return invalidArgument(option + ' ' + text + " is not ADDRESS:PORT, such as 0.0.0.0:7571 or [::]:7571");
}

bool isLoopback(const std::string& address) {
  if (address == "localhost") return true;
  in_addr four{};
  if (::inet_pton(AF_INET, address.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  in6_addr six{};
  return ::inet_pton(AF_INET6, address.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

}  // namespace pop::os
