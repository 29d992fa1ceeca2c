// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/group/circle.h"

#include <algorithm>
#include <cstddef>

namespace popdist::group {
namespace {

using pop::contract::Station;
using pop::contract::stationOf;

/// A wait, and the place among those that were reached before of the one that it blocks.
struct Step {
  std::uint64_t wait = 0;
  std::size_t from = 0;
};

std::vector<std::uint64_t> pathTo(std::span<const Step> reached, std::size_t at) {
  std::vector<std::uint64_t> path{reached[at].wait};
  for (; at != 0; path.push_back(reached[at].wait)) at = reached[at].from;
  std::ranges::reverse(path);
  return path;
}

}  // namespace

bool lasts(std::span<const Station> stations, std::uint64_t wait) {
  const std::size_t station = stationOf(wait);
  return station < stations.size() &&
         stations[station].wait.load(std::memory_order_acquire) == static_cast<std::uint32_t>(wait);
}

std::vector<std::uint64_t> blockersOf(std::span<const Station> stations, std::uint64_t wait) {
  std::vector<std::uint64_t> blockers;
  if (!lasts(stations, wait)) return blockers;
  for (const std::atomic<std::uint64_t>& blocker : stations[stationOf(wait)].blockers)
    if (const std::uint64_t each = blocker.load(std::memory_order_acquire); each != 0)
      blockers.push_back(each);
  return blockers;
}

std::vector<std::uint64_t> circleThrough(std::span<const Station> stations, std::uint64_t own) {
  std::vector<Step> reached{{own, 0}};
  for (std::size_t at = 0; at < reached.size(); ++at) {
    for (const std::uint64_t blocker : blockersOf(stations, reached[at].wait)) {
      if (blocker == own) return pathTo(reached, at);
      if (lasts(stations, blocker) && std::ranges::find(reached, blocker, &Step::wait) == reached.end())
        reached.push_back({blocker, at});
    }
  }
  return {};
}

}  // namespace popdist::group
