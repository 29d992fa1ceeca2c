// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh/ssh_target.h"

#include <algorithm>
#include <cstdint>

#include "common/base/text.h"

namespace pop {
namespace {

Status notAHost(std::string_view text, const std::string& why) {
  return invalidArgument("host " + inQuotes(text) + ": " + why +
                         "; expected [user@]host[:port], with an IPv6 address "
                         "and a port as [fd00::1]:22");
}

Status readPort(std::string_view whole, std::string_view text, SshTarget& target) {
  const Result<std::int64_t> port = parseInteger(text);
  if (!port.ok() || port.value() < 1 || port.value() > 65535) {
    return notAHost(whole, inQuotes(text) + " is not a port");
  }
  target.port = static_cast<int>(port.value());
  return {};
}

// A word that ssh could read as an option, or that a shell could interpret, is not a host or user.
bool isPlain(std::string_view name) {
  constexpr std::string_view kUnsafe = " \t\r\n'\"`$\\;&<>|(){}*?!";
  return !name.empty() && name.front() != '-' && name.find_first_of(kUnsafe) == std::string_view::npos;
}

}  // namespace

Result<SshTarget> parseSshTarget(std::string_view text) {
  SshTarget target;
  std::string_view rest = text;
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    target.user = rest.substr(0, at);
    rest.remove_prefix(at + 1);
    if (!isPlain(target.user)) return notAHost(text, inQuotes(target.user) + " is not a user name");
  }
  if (rest.starts_with('[')) {
    const std::size_t close = rest.find(']');
    if (close == std::string_view::npos) return notAHost(text, "']' is missing");
    const std::string_view after = rest.substr(close + 1);
    if (!after.empty() && !after.starts_with(':')) return notAHost(text, "after ']' only a port may follow");
    if (!after.empty()) POP_RETURN_IF_ERROR(readPort(text, after.substr(1), target));
    rest = rest.substr(1, close - 1);
  } else if (std::count(rest.begin(), rest.end(), ':') == 1) {
    const std::size_t colon = rest.find(':');
    POP_RETURN_IF_ERROR(readPort(text, rest.substr(colon + 1), target));
    rest = rest.substr(0, colon);
  }
  target.host = rest;
  if (!isPlain(target.host)) return notAHost(text, "it names no host");
  return target;
}

}  // namespace pop
