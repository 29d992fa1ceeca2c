// SPDX-License-Identifier: Apache-2.0
#include "popdistd/queue/room.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "popdistd/partitions/ipu_blocks.h"

namespace pop::queue {
namespace {

using vipu::IpuMask;
using vipu::IpuMasks;

IpuMask blockAt(int first, int ipus) {
  const IpuMask low = ipus == vipu::kMaxIldIpus ? ~IpuMask{0} : (IpuMask{1} << ipus) - 1;
  return low << first;
}

std::vector<IldIpus> ipusOf(const vipu::BlockPlace& block) {
  std::vector<IldIpus> ipus;
  for (int i = 0; i < block.segments; ++i)
    ipus.push_back({static_cast<std::size_t>(block.first_ild + i), blockAt(block.first_ipu, block.ipus)});
  return ipus;
}

}  // namespace

Room::Room(const std::vector<Host>& hosts, const std::vector<Pool>& pools) {
  hosts_.reserve(hosts.size());
  for (const Host& host : hosts) hosts_.push_back({.slots = host.slots, .takes_jobs = host.closed.empty()});
  for (const Pool& pool : pools) {
    pools_.push_back({pool.usable, pool.usable, {}});
    pools_.back().owners.assign(pool.usable.size(), std::vector<std::uint8_t>(vipu::kMaxIldIpus, 0));
  }
}

bool Room::takes(const HostShare& share) const {
  const HostRoom& host = hosts_[share.host];
  return host.takes_jobs && (host.jobs == 0 || host.used + share.instances <= host.slots);
}

int Room::freeSlots(std::size_t host) const {
  return std::max(0, hosts_[host].slots - hosts_[host].used);
}

std::vector<std::size_t> Room::candidates(const Shape& shape) const {
  std::vector<std::size_t> candidates;
  const auto add = [&](std::size_t host) {
    if (hosts_[host].takes_jobs) candidates.push_back(host);
  };
  if (shape.of_hosts) {
    for (const std::size_t host : *shape.of_hosts) add(host);
  } else {
    for (std::size_t host = 0; host < hosts_.size(); ++host) add(host);
  }
  return candidates;
}

std::optional<Place> Room::fit(const Shape& shape, const Guard& guard,
                               const std::function<bool(std::size_t)>& open) const {
  Place place;
  if (shape.partition) {
    if (!isFree(*shape.partition) || guard.partitions.contains(*shape.partition)) return std::nullopt;
    place.partition = shape.partition;
  }
  if (!fitHosts(shape, guard, place) || !fitIpus(shape, guard, open, place)) return std::nullopt;
  return place;
}

bool Room::fitHosts(const Shape& shape, const Guard& guard, Place& place) const {
  if (!shape.named.empty()) {
    place.hosts = shape.named;
    return std::all_of(shape.named.begin(), shape.named.end(),
                       [&](const HostShare& share) { return takes(share) && guard.allows(share); });
  }
  const auto wanted = static_cast<std::ptrdiff_t>(shape.num_hosts);
  std::vector<std::pair<int, std::size_t>> found;
  for (const std::size_t host : candidates(shape)) {
    if (takes({host, shape.share}) && guard.allows({host, shape.share}))
      found.emplace_back(hosts_[host].used - hosts_[host].slots, host);
  }
  if (std::ssize(found) < wanted) return false;
  std::partial_sort(found.begin(), found.begin() + wanted, found.end());
  for (std::ptrdiff_t i = 0; i < wanted; ++i)
    place.hosts.push_back({found[static_cast<std::size_t>(i)].second, shape.share});
  return true;
}

bool Room::fitIpus(const Shape& shape, const Guard& guard, const std::function<bool(std::size_t)>& open,
                   Place& place) const {
  if (shape.segment_ipus == 0) return true;
  std::optional<vipu::BlockFit> best;
  for (const std::size_t pool : shape.pools) {
    if (open && !open(pool)) continue;
    IpuMasks free = freeIpus(pool);
    for (std::size_t ild = 0; ild < free.size() && !guard.kept.empty(); ++ild)
      free[ild] &= ~guard.kept[pool][ild];
    const auto found = vipu::bestFit(free, shape.segments, shape.segment_ipus);
    if (!found || (best && best->taken_from <= found->taken_from)) continue;
    best = found;
    place.pool = pool;
  }
  if (best) place.ipus = ipusOf(best->place);
  return best.has_value();
}

// ---- where it will be, some time

std::optional<Place> Room::nearest(const Shape& shape, const Room& last) const {
  Place place;
  place.partition = shape.partition;
  if (!nearestHosts(shape, last, place) || !nearestIpus(shape, last, place)) return std::nullopt;
  return place;
}

// Instances that must go before the host takes it.
int Room::missing(const HostShare& share) const {
  const HostRoom& host = hosts_[share.host];
  if (host.jobs == 0) return 0;
  return share.instances > host.slots ? host.used : std::max(0, host.used + share.instances - host.slots);
}

// The places do not change to and fro: nothing new goes to those that are kept, so they only come nearer.
bool Room::nearestHosts(const Shape& shape, const Room& last, Place& place) const {
  if (!shape.named.empty()) {
    place.hosts = shape.named;
    return std::all_of(shape.named.begin(), shape.named.end(),
                       [&](const HostShare& share) { return hosts_[share.host].takes_jobs; });
  }
  const auto wanted = static_cast<std::ptrdiff_t>(shape.num_hosts);
  std::vector<std::tuple<int, int, std::size_t>> found;
  for (const std::size_t host : candidates(shape)) {
    const HostShare share{host, shape.share};
    found.emplace_back(last.missing(share), missing(share), host);
  }
  if (std::ssize(found) < wanted) return false;
  std::partial_sort(found.begin(), found.begin() + wanted, found.end());
  for (std::ptrdiff_t i = 0; i < wanted; ++i)
    place.hosts.push_back({std::get<2>(found[static_cast<std::size_t>(i)]), shape.share});
  return true;
}

bool Room::nearestIpus(const Shape& shape, const Room& last, Place& place) const {
  if (shape.segment_ipus == 0) return true;
  std::optional<std::pair<int, int>> best;
  for (const std::size_t pool : shape.pools) {
    const IpuMasks& usable = pools_[pool].usable;
    const IpuMasks& free_now = freeIpus(pool);
    const IpuMasks& free_last = last.freeIpus(pool);
    for (int ild = 0; ild + shape.segments <= std::ssize(usable); ++ild) {
      for (int first = 0; first + shape.segment_ipus <= vipu::kMaxIldIpus; first += shape.segment_ipus) {
        const std::vector<IldIpus> ipus = ipusOf({ild, shape.segments, first, shape.segment_ipus});
        std::pair<int, int> missing{0, 0};
        bool is_usable = true;
        for (const IldIpus& each : ipus) {
          is_usable = is_usable && (each.ipus & ~usable[each.ild]) == 0;
          missing.first += std::popcount(each.ipus & ~free_last[each.ild]);
          missing.second += std::popcount(each.ipus & ~free_now[each.ild]);
        }
        if (!is_usable || (best && *best <= missing)) continue;
        best = missing;
        place.pool = pool;
        place.ipus = ipus;
      }
    }
  }
  return best.has_value();
}

// ---- changes

void Room::take(const Place& place) {
  for (const HostShare& share : place.hosts) {
    hosts_[share.host].used += share.instances;
    ++hosts_[share.host].jobs;
  }
  countOwners(place, 1);
  if (place.partition) partitions_.insert(*place.partition);
}

void Room::give(const Place& place) {
  for (const HostShare& share : place.hosts) {
    hosts_[share.host].used -= share.instances;
    --hosts_[share.host].jobs;
  }
  countOwners(place, -1);
  if (!place.partition) return;
  const auto taken = partitions_.find(*place.partition);
  if (taken != partitions_.end()) partitions_.erase(taken);
}

void Room::countOwners(const Place& place, int change) {
  if (!place.pool) return;
  for (const IldIpus& each : place.ipus) {
    PoolRoom& pool = pools_[*place.pool];
    if (each.ild >= pool.owners.size()) continue;
    auto& owners = pool.owners[each.ild];
    for (IpuMask left = each.ipus; left != 0; left &= left - 1) {
      std::uint8_t& count = owners[static_cast<std::size_t>(std::countr_zero(left))];
      count = static_cast<std::uint8_t>(count + change);
      const IpuMask bit = left & (~left + 1);
      pool.free[each.ild] =
          count == 0 ? pool.free[each.ild] | (bit & pool.usable[each.ild]) : pool.free[each.ild] & ~bit;
    }
  }
}

}  // namespace pop::queue
