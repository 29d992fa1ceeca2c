// SPDX-License-Identifier: Apache-2.0
// PartitionTable: allocations in use, listings, and records that are taken over.
#include <algorithm>

#include "common/base/text.h"
#include "popdistd/partitions/ipu_blocks.h"
#include "popdistd/partitions/partition_plan.h"
#include "popdistd/partitions/partition_table.h"

namespace pop::vipu {
namespace {

Result<const Allocation*> requireAllocation(const Inventory& inventory, std::string_view id) {
  if (const Allocation* const allocation = inventory.allocation(id)) return allocation;
  return Status(Code::kNotFound, "there is no allocation " + inQuotes(id));
}

bool between(int value, int least, int most) {
  return value >= least && value <= most;
}

// The first mistake in the specification by itself; empty: none.
std::string flawOf(const PartitionSpec& spec) {
  if (spec.size < 1 || spec.ipus.size() != static_cast<std::size_t>(spec.size))
    return "its size is not that of its IPUs";
  if (!between(spec.num_segments, 1, spec.size) || spec.size % spec.num_segments != 0)
    return "its segments do not divide its IPUs";
  if (!between(spec.num_gcds, 1, spec.size) || spec.size % spec.num_gcds != 0)
    return "its GCDs do not divide its IPUs";
  for (int i = 0; i < spec.size; ++i) {
    const PartitionIpu& ipu = spec.ipus[static_cast<std::size_t>(i)];
    if (ipu.routing_id != i || ipu.ild_routing_id != i / spec.segmentIpus())
      return "its routing ids are out of order";
    if (!between(ipu.ild_topology_id, 0, kMaxIlds - 1) || !between(ipu.topology_id, 0, kMaxIldIpus - 1))
      return "it has an IPU that cannot be";
  }
  return {};
}

}  // namespace

Status PartitionTable::setAllocation(Allocation allocation) {
  const Allocation* const old = inventory_.allocation(allocation.id);
  for (const std::string& id : old ? old->agents : std::vector<std::string>()) {
    const auto& kept = allocation.agents;
    if (std::find(kept.begin(), kept.end(), id) != kept.end()) continue;
    const Agent& machine = *inventory_.agent(id);
    for (const auto& [name, partition] : index_.all()) {
      if (uses(partition, machine))
        return failedPrecondition("allocation " + inQuotes(allocation.id) + ": agent " + inQuotes(id) +
                                  " cannot leave it: partition " + inQuotes(name) +
                                  " has IPUs there; remove the partition first");
    }
  }
  return inventory_.setAllocation(std::move(allocation));
}

Status PartitionTable::removeAllocation(std::string_view id) {
  for (const auto& [name, partition] : index_.all()) {
    if (partition.spec.allocation == id)
      return failedPrecondition("allocation " + inQuotes(id) + " has partition " + inQuotes(name) +
                                ": remove the partition first");
  }
  return inventory_.removeAllocation(id);
}

Result<std::vector<const Partition*>> PartitionTable::list(std::string_view allocation,
                                                           std::string_view user) const {
  if (!allocation.empty()) {
    POP_ASSIGN_OR_RETURN(const Allocation* const named, requireAllocation(inventory_, allocation));
    if (!mayUse(user, *named))
      return Status(Code::kNotFound, "there is no allocation " + inQuotes(allocation));
  }
  std::vector<const Partition*> listed;
  for (const auto& [id, partition] : index_.all()) {
    if (!allocation.empty() && partition.spec.allocation != allocation) continue;
    if (mayUse(user, *inventory_.allocation(partition.spec.allocation))) listed.push_back(&partition);
  }
  return listed;
}

Result<Capacity> PartitionTable::capacityOf(std::string_view allocation) const {
  POP_ASSIGN_OR_RETURN(const Allocation* const named, requireAllocation(inventory_, allocation));
  const IpuMasks& all = inventory_.ipusOf(*named);
  const IpuMasks free = freeIpus(inventory_, *named, index_.owned());
  Capacity capacity{.ipus = countIpus(all), .free = countIpus(free)};
  const int unowned = countIpus(withoutOwned(all, named->cluster, index_.owned()));
  capacity.owned = capacity.ipus - unowned;
  capacity.unusable = unowned - capacity.free;
  capacity.largest_free_block = largestBlock(free);
  capacity.fragmentation = fragmentation(free, inventory_.cluster(named->cluster)->shape.ildIpus());
  return capacity;
}

Status PartitionTable::checkRecord(const Partition& partition) const {
  const auto damaged = [&](const std::string& what) {
    return Status(Code::kDataLoss,
                  "the record of partition " + inQuotes(partition.id) + " is damaged: " + what);
  };
  const PartitionSpec& spec = partition.spec;
  if (!checkName("partition", partition.id).ok()) return damaged("its id is no name");
  if (index_.find(partition.id)) return damaged("there is another with this id");
  if (partition.state == PartitionState::kRemoved) return damaged("the partition has been removed");
  if (const std::string flaw = flawOf(spec); !flaw.empty()) return damaged(flaw);
  const Allocation* const allocation = inventory_.allocation(spec.allocation);
  if (!allocation || allocation->cluster != spec.cluster)
    return damaged("there is no allocation " + inQuotes(spec.allocation) + " in a cluster " +
                   inQuotes(spec.cluster));
  IpuMasks left = inventory_.ipusOf(*allocation);
  for (const PartitionIpu& ipu : spec.ipus) {
    const std::string what = "IPU " + std::to_string(ipu.topology_id) + " of IPU-Link domain " +
                             std::to_string(ipu.ild_topology_id);
    if (!contains(left, ipu)) return damaged(what + " is not in its allocation, or twice in its IPUs");
    if (const Partition* const owner = index_.ownerOf(spec.cluster, ipu))
      return damaged(what + " belongs to partition " + inQuotes(owner->id));
    left[static_cast<std::size_t>(ipu.ild_topology_id)] &= ~(IpuMask{1} << ipu.topology_id);
  }
  if (const Partition* const other = partition.job.empty() ? nullptr : index_.heldBy(partition.job))
    return damaged("its job " + inQuotes(partition.job) + " holds partition " + inQuotes(other->id) +
                   ", too");
  return {};
}

Status PartitionTable::restore(const std::vector<Partition>& partitions) {
  Change done;
  for (const Partition& partition : partitions) {
    if (Status status = checkRecord(partition); !status.ok()) {
      revert(done);
      return status;
    }
    done.push_back(commit(std::nullopt, partition));
  }
  return {};
}

}  // namespace pop::vipu
