// SPDX-License-Identifier: Apache-2.0
// The free resources at one moment: slots of hosts, IPUs, partitions. Pure.
//
// A host takes a job if the instances fit into its free slots, or if no other job runs there. What is taken
// may be more than there is: a job that waits for an unknown time has its place booked before that is free.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "popdistd/queue/shape.h"

namespace pop::queue {

/// Resources to be left alone, besides those that are taken. A default Guard keeps nothing.
struct Guard {
  std::vector<int> spare;            ///< instances that a host may get; empty: all
  std::vector<vipu::IpuMasks> kept;  ///< IPUs by pool; empty: none
  std::set<std::size_t> partitions;

  bool allows(const HostShare& share) const { return spare.empty() || spare[share.host] >= share.instances; }
};

class Room {
 public:
  Room(const std::vector<Host>& hosts, const std::vector<Pool>& pools);

  /// The place for a job of this shape now: the emptiest hosts, and the smallest block that it fits into.
  /// `open`: pools that it may use; null: all.
  std::optional<Place> fit(const Shape& shape, const Guard& guard = {},
                           const std::function<bool(std::size_t pool)>& open = nullptr) const;

  /// The place that is nearest to being free, if everything that runs there ends: in `last`, what ends at
  /// known times has; this is what is free now. Nothing: there is none, whatever ends.
  std::optional<Place> nearest(const Shape& shape, const Room& last) const;

  void take(const Place& place);
  void give(const Place& place);

  bool takes(const HostShare& share) const;
  int freeSlots(std::size_t host) const;
  int jobsOn(std::size_t host) const { return hosts_[host].jobs; }
  /// The usable IPUs of the pool that are not taken.
  const vipu::IpuMasks& freeIpus(std::size_t pool) const { return pools_[pool].free; }
  bool isFree(std::size_t partition) const { return !partitions_.contains(partition); }
  /// The hosts that the shape could use, whatever runs there.
  std::vector<std::size_t> candidates(const Shape& shape) const;

 private:
  struct HostRoom {
    int slots = 0;
    int used = 0;
    int jobs = 0;
    bool takes_jobs = true;
  };
  struct PoolRoom {
    vipu::IpuMasks free;
    vipu::IpuMasks usable;
    std::vector<std::vector<std::uint8_t>> owners;  ///< of each IPU by domain: two while one is booked
  };

  bool fitHosts(const Shape& shape, const Guard& guard, Place& place) const;
  bool fitIpus(const Shape& shape, const Guard& guard, const std::function<bool(std::size_t)>& open,
               Place& place) const;
  bool nearestHosts(const Shape& shape, const Room& last, Place& place) const;
  bool nearestIpus(const Shape& shape, const Room& last, Place& place) const;
  int missing(const HostShare& share) const;
  void countOwners(const Place& place, int change);

  std::vector<HostRoom> hosts_;
  std::vector<PoolRoom> pools_;
  std::multiset<std::size_t> partitions_;  ///< taken ones
};

}  // namespace pop::queue
