// SPDX-License-Identifier: Apache-2.0
#include "popdistd/queue/words.h"

#include <algorithm>
#include <optional>

#include "common/base/text.h"
#include "popdistd/partitions/ipu_blocks.h"

namespace pop::queue {
namespace {

std::string jobText(std::optional<JobId> job) {
  return job ? "job " + std::to_string(*job) : "a job";
}

Reason keptFor(const std::string& what, std::optional<JobId> job) {
  return {Why::kBehind, what + " kept for " + jobText(job) + ", which is before it"};
}

std::optional<JobId> holderOf(const Snapshot& snapshot, std::size_t partition) {
  for (const Running& each : snapshot.running) {
    if (each.place.partition == partition && each.job != 0) return each.job;
  }
  return std::nullopt;
}

class Words {
 public:
  Words(const Snapshot& snapshot, const std::vector<Account>& allocations, const Shape& shape,
        const Room& room, const Guard& guard, const Bookings& bookings)
      : snapshot_(snapshot),
        allocations_(allocations),
        shape_(shape),
        room_(room),
        guard_(guard),
        bookings_(bookings) {}

  Reason say() const {
    if (shape_.partition) {
      if (std::optional<Reason> reason = ofPartition(*shape_.partition)) return *reason;
    }
    if (std::optional<Reason> reason = shape_.named.empty() ? ofHosts() : ofNamed()) return *reason;
    return ofIpus();
  }

 private:
  std::optional<Reason> ofPartition(std::size_t partition) const {
    const std::string name = "partition " + snapshot_.partitions[partition];
    if (room_.isFree(partition)) {
      if (!guard_.partitions.contains(partition)) return std::nullopt;
      return keptFor(name + " is", bookings_.ofPartition(partition));
    }
    return Reason{Why::kPartition, name + " is held by " + jobText(holderOf(snapshot_, partition))};
  }

  Reason slots(const HostShare& share) const {
    const Host& host = snapshot_.hosts[share.host];
    return {Why::kSlots, "it needs " + counted(share.instances, "slot") + " on host " + host.name + ", and " +
                             std::to_string(room_.freeSlots(share.host)) + " of " +
                             std::to_string(host.slots) + " are free"};
  }

  std::optional<Reason> ofNamed() const {
    for (const HostShare& share : shape_.named) {
      if (!room_.takes(share)) return slots(share);
    }
    for (const HostShare& share : shape_.named) {
      if (!guard_.allows(share))
        return keptFor("host " + snapshot_.hosts[share.host].name + " is", bookings_.ofHost(share.host));
    }
    return std::nullopt;
  }

  std::optional<Reason> ofHosts() const {
    int fitting = 0;
    int allowed = 0;
    std::optional<std::size_t> kept;
    std::optional<std::size_t> emptiest;
    for (const std::size_t host : room_.candidates(shape_)) {
      const HostShare share{host, shape_.share};
      if (!room_.takes(share)) {
        if (!emptiest || room_.freeSlots(host) > room_.freeSlots(*emptiest)) emptiest = host;
        continue;
      }
      ++fitting;
      allowed += guard_.allows(share) ? 1 : 0;
      if (!guard_.allows(share) && !kept) kept = host;
    }
    if (allowed >= shape_.num_hosts) return std::nullopt;
    if (kept && fitting >= shape_.num_hosts)
      return keptFor("host " + snapshot_.hosts[*kept].name + " is", bookings_.ofHost(*kept));
    if (shape_.num_hosts == 1 && emptiest) return slots({*emptiest, shape_.share});
    return Reason{Why::kSlots, "it needs " + counted(shape_.num_hosts, "host") + " with " +
                                   counted(shape_.share, "free slot") + " each, and there " +
                                   (fitting == 1 ? "is " : "are ") + std::to_string(fitting)};
  }

  Reason ofIpus() const {
    int free = 0;
    int largest = 0;
    std::string over;
    bool is_open = false;
    for (const std::size_t pool : shape_.pools) {
      const std::string why = shape_.allocation ? "" : whyNot(allocations_[pool], shape_);
      if (over.empty()) over = why;
      is_open = is_open || why.empty();
      const vipu::IpuMasks& ipus = room_.freeIpus(pool);
      free += vipu::countIpus(ipus);
      largest = std::max(largest, vipu::largestBlock(ipus, shape_.segments));
    }
    if (!is_open) return {Why::kQuota, "quota: " + over};
    if (largest >= shape_.segment_ipus && !guard_.kept.empty())
      return keptFor("IPUs are", bookings_.ofPools(shape_.pools));
    return {Why::kIpus, "it needs a block of " + counted(shape_.segment_ipus, "IPU") +
                            (shape_.segments == 1
                                 ? ""
                                 : " in each of " + std::to_string(shape_.segments) + " IPU-Link domains") +
                            "; " + counted(free, "IPU") + (free == 1 ? " is" : " are") +
                            " free, the largest free block has " + std::to_string(largest)};
  }

  const Snapshot& snapshot_;
  const std::vector<Account>& allocations_;
  const Shape& shape_;
  const Room& room_;
  const Guard& guard_;
  const Bookings& bookings_;
};

}  // namespace

Reason whyNoFit(const Snapshot& snapshot, const std::vector<Account>& allocations, const Shape& shape,
                const Room& room, const Guard& guard, const Bookings& bookings) {
  return Words(snapshot, allocations, shape, room, guard, bookings).say();
}

}  // namespace pop::queue
