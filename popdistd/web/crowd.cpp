// SPDX-License-Identifier: Apache-2.0
#include "popdistd/web/crowd.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace pop::popdistd::web {
namespace {

const std::string& ownerOf(const Standing& connection) {
  return connection.user ? *connection.user : connection.address;
}

}  // namespace

std::optional<std::uint64_t> goesFirst(std::span<const Standing> connections) {
  const bool has_users_only = std::all_of(connections.begin(), connections.end(),
                                          [](const Standing& each) { return each.user.has_value(); });
  std::map<std::string, int> count;
  for (const Standing& each : connections) {
    if (each.user.has_value() == has_users_only) ++count[ownerOf(each)];
  }
  const Standing* first = nullptr;
  const auto order = [&count](const Standing& each) {
    return std::tuple(-count[ownerOf(each)], each.is_busy, each.number);
  };
  for (const Standing& each : connections) {
    if (each.user.has_value() != has_users_only) continue;
    if (first == nullptr || order(each) < order(*first)) first = &each;
  }
  return first == nullptr ? std::nullopt : std::optional(first->number);
}

}  // namespace pop::popdistd::web
