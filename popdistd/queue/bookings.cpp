// SPDX-License-Identifier: Apache-2.0
#include "popdistd/queue/bookings.h"

#include <algorithm>
#include <limits>

namespace pop::queue {

Guard Bookings::guardFor(std::optional<Time> ends) const {
  Guard guard;
  for (const Kept& each : kept_) {
    if (!outlives(ends, each.booking)) continue;
    const Place& place = each.booking.place;
    if (guard.spare.empty()) guard.spare.assign(hosts_.size(), std::numeric_limits<int>::max());
    for (std::size_t i = 0; i < place.hosts.size(); ++i) {
      int& spare = guard.spare[place.hosts[i].host];
      spare = std::min(spare, each.booking.spare[i]);
    }
    if (place.partition) guard.partitions.insert(*place.partition);
    if (!place.pool) continue;
    if (guard.kept.empty()) {
      for (const Pool& pool : pools_) guard.kept.emplace_back(pool.usable.size(), 0);
    }
    for (const IldIpus& ipus : place.ipus) guard.kept[*place.pool][ipus.ild] |= ipus.ipus;
  }
  return guard;
}

void Bookings::started(const Place& place, std::optional<Time> ends) {
  for (Kept& each : kept_) {
    if (!outlives(ends, each.booking)) continue;
    const std::vector<HostShare>& booked = each.booking.place.hosts;
    for (const HostShare& share : place.hosts) {
      for (std::size_t i = 0; i < booked.size(); ++i) {
        if (booked[i].host == share.host) each.booking.spare[i] -= share.instances;
      }
    }
  }
}

std::optional<JobId> Bookings::ofHost(std::size_t host) const {
  for (const Kept& each : kept_) {
    for (const HostShare& share : each.booking.place.hosts) {
      if (share.host == host) return each.job;
    }
  }
  return std::nullopt;
}

std::optional<JobId> Bookings::ofPools(const std::vector<std::size_t>& pools) const {
  for (const Kept& each : kept_) {
    const std::optional<std::size_t> pool = each.booking.place.pool;
    if (pool && std::find(pools.begin(), pools.end(), *pool) != pools.end()) return each.job;
  }
  return std::nullopt;
}

std::optional<JobId> Bookings::ofPartition(std::size_t partition) const {
  for (const Kept& each : kept_) {
    if (each.booking.place.partition == partition) return each.job;
  }
  return std::nullopt;
}

}  // namespace pop::queue
