// SPDX-License-Identifier: Apache-2.0
#include "common/model/ipv6_address.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "common/base/text.h"

namespace pop::model {
namespace {

constexpr int kGroups = 8;
constexpr int kNone = kGroups + 1;  // more than an address has

bool isGroup(std::string_view text) {
  return !text.empty() && text.size() <= 4 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

bool isByte(std::string_view text) {
  const bool digits =
      !text.empty() && text.size() <= 3 &&
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return digits && (text.size() == 1 || text.front() != '0') && parseInteger(text).value() <= 255;
}

bool isIpv4Address(std::string_view text) {
  const std::vector<std::string> bytes = split(text, '.');
  return bytes.size() == 4 && std::all_of(bytes.begin(), bytes.end(), isByte);
}

// Counts the groups on one side of "::", or of an address without it. An address may end in IPv4 notation,
// which counts as two groups.
int groupsIn(std::string_view text, bool is_end) {
  if (text.empty()) return 0;
  const std::vector<std::string> groups = split(text, ':');
  const bool ends_as_ipv4 = is_end && isIpv4Address(groups.back());
  const auto rest = groups.end() - (ends_as_ipv4 ? 1 : 0);
  if (!std::all_of(groups.begin(), rest, isGroup)) return kNone;
  return static_cast<int>(groups.size()) + (ends_as_ipv4 ? 1 : 0);
}

// The name or number of an interface.
bool isZone(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  });
}

}  // namespace

bool isIpv6Address(std::string_view text) {
  const std::size_t percent = text.find('%');
  if (percent != std::string_view::npos && !isZone(text.substr(percent + 1))) return false;
  const std::string_view address = text.substr(0, percent);
  const std::size_t gap = address.find("::");
  if (gap == std::string_view::npos) return groupsIn(address, true) == kGroups;
  return address.find("::", gap + 1) == std::string_view::npos &&
         groupsIn(address.substr(0, gap), false) + groupsIn(address.substr(gap + 2), true) < kGroups;
}

}  // namespace pop::model
