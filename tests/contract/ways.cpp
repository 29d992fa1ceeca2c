// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/ways.h"

#include <algorithm>

#include <cstdlib>

#include "libpopdist/collectives/context/environment.h"
#include "tests/backends/backends_of_build.h"

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
      {.name = "pull", .environment = {{kShared, "pull"}}},
      {.name = "messages",
       .environment = {{kShared, "messages"}},
       .in_rank_order = false,
       .compared = Compared::kFrames},
      {.name = "tcp",
       .environment = {{"POPDIST_TRANSPORT", "tcp"}},
       .in_rank_order = false,
       .compared = Compared::kFrames},
      {.name = "hosts",
       .environment = {},
       .instances_per_host = 2,
       .in_rank_order = false,
       .compared = Compared::kFrames},
  };
  return ways;
}

const Way& wayNamed(const std::string& name) {
  return *std::find_if(allWays().begin(), allWays().end(), [&](const Way& way) { return way.name == name; });
}

std::vector<Way> waysOfProcesses() {
  std::vector<Way> ways = allWays();
  std::erase_if(ways, [](const Way& way) { return way.instances_per_host > 0; });
  for (const std::string& backend : pop::testing::backendsOfBuild()) {
    Way way{.name = backend,
            .environment = {{"POPDIST_BACKEND", backend}},
            .in_rank_order = false,
            .compared = Compared::kFrames,
            .most_ranks = 4};
    pop::testing::prepareFor(backend, way.environment);
    ways.push_back(way);
  }
  return ways;
}

testing::GroupShape shapeOf(const Way& way, int ranks) {
  return {.replicas_of_instance = std::vector<int>(static_cast<std::size_t>(ranks), 1),
          .transport = context::transportSettingsFromEnvironment(),
          .instances_per_host = way.instances_per_host};
}

WayTaken::WayTaken(const Way& way) : environment_(way.environment) {
  for (const auto& [name, value] : environment_) ::setenv(name.c_str(), value.c_str(), 1);
}

WayTaken::~WayTaken() {
  for (const auto& [name, value] : environment_) ::unsetenv(name.c_str());
}

}  // namespace popdist::contract
