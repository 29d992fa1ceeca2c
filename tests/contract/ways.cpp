// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/ways.h"

#include <cstdlib>

namespace popdist::contract {
namespace {

constexpr const char* kShared = "POPDIST_SHARED_ALGORITHM";

}  // namespace

const std::vector<Way>& allWays() {
  static const std::vector<Way> ways{
      {.name = "table", .environment = {}},
      {.name = "eager", .environment = {{kShared, "eager"}}},
      {.name = "staged", .environment = {{kShared, "staged"}}},
      {.name = "direct", .environment = {{kShared, "direct"}}},
      {.name = "messages", .environment = {{kShared, "messages"}}, .in_rank_order = false},
  };
  return ways;
}

WayTaken::WayTaken(const Way& way) : environment_(way.environment) {
  for (const auto& [name, value] : environment_) ::setenv(name.c_str(), value.c_str(), 1);
}

WayTaken::~WayTaken() {
  for (const auto& [name, value] : environment_) ::unsetenv(name.c_str());
}

}  // namespace popdist::contract
