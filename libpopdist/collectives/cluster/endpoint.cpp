// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/cluster/endpoint.h"

#include <algorithm>

#include "common/base/text.h"

namespace popdist::cluster {
namespace {

constexpr std::int64_t kLastPort = 65535;
constexpr std::size_t kMostDigits = 5;
constexpr std::string_view kDigits = "0123456789";

pop::Status expected(const std::string& what) {
  return pop::invalidArgument(what + "; expected \"host:port\", or \"[address]:port\" for IPv6");
}

bool isOfName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

bool isOfIpv6(char c) {
  return (c >= 'a' && c <= 'f') || (c >= '0' && c <= '9') || c == ':' || c == '.';
}

// With the interface that a link-local address has after '%', whatever its name.
pop::Status checkIpv6(std::string_view host) {
  const std::string_view number = host.substr(0, host.find('%'));
  if (number.find(':') == std::string_view::npos || !std::all_of(number.begin(), number.end(), isOfIpv6))
    return expected("the text in brackets is no IPv6 address");
  return {};
}

pop::Status checkName(std::string_view host) {
  if (host.empty()) return expected("it has no host");
  if (host.find(':') != std::string_view::npos)
    return expected("it has several colons, and an IPv6 address is in brackets");
  if (!std::all_of(host.begin(), host.end(), isOfName)) return expected("its host is no name or address");
  return {};
}

pop::Result<int> parsePort(std::string_view text) {
  const bool is_number = !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos &&
                         text.size() <= kMostDigits;
  const std::int64_t port = is_number ? pop::parseInteger(text).value() : 0;
  if (port < 1 || port > kLastPort) return expected("its port is not a number from 1 to 65535");
  return static_cast<int>(port);
}

}  // namespace

pop::Result<Endpoint> parseEndpoint(std::string_view text) {
  const std::string lower = pop::lowerCase(text);
  const bool in_brackets = lower.starts_with('[');
  const std::size_t colon = lower.rfind(':');
  if (colon == std::string::npos) return expected("it has no port");
  std::string host = lower.substr(0, colon);
  if (in_brackets) {
    if (!host.ends_with(']')) return expected("it has no port after its brackets");
    host = host.substr(1, host.size() - 2);
    POP_RETURN_IF_ERROR(checkIpv6(host));
  } else {
    POP_RETURN_IF_ERROR(checkName(host));
  }
  POP_ASSIGN_OR_RETURN(const int port, parsePort(std::string_view(lower).substr(colon + 1)));
  return Endpoint{std::move(host), port};
}

}  // namespace popdist::cluster
