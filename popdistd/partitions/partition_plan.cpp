// SPDX-License-Identifier: Apache-2.0
#include "popdistd/partitions/partition_plan.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "common/base/text.h"
#include "popdistd/partitions/ipu_blocks.h"

namespace pop::vipu {
namespace {

using Allocations = std::vector<const Allocation*>;

// Messages do not tell a cluster or allocation that the user may not use from a missing one.
std::string orNotFor(std::string_view user) {
  return user.empty() ? "" : ", or not for user " + inQuotes(user);
}

Status noCluster(const PartitionRequirements& requirements, std::string_view user) {
  return {Code::kNotFound,
          "there is no cluster " + inQuotes(requirements.cluster) + " (cluster_id)" + orNotFor(user)};
}

Result<Allocations> namedAllocation(const PartitionRequirements& requirements, std::string_view user,
                                    const Inventory& inventory) {
  const std::string name = "allocation " + inQuotes(requirements.allocation);
  const Allocation* const allocation = inventory.allocation(requirements.allocation);
  if (!allocation || !mayUse(user, *allocation))
    return Status(Code::kNotFound, "there is no " + name + " (allocation_id)" + orNotFor(user));
  if (!requirements.cluster.empty() && requirements.cluster != allocation->cluster)
    return invalidArgument("partition " + inQuotes(requirements.id) + ": " + name + " is in cluster " +
                           inQuotes(allocation->cluster) + ", not in " + inQuotes(requirements.cluster) +
                           ": leave cluster_id out");
  return Allocations{allocation};
}

Result<Allocations> possibleAllocations(const PartitionRequirements& requirements, std::string_view user,
                                        const Inventory& inventory) {
  if (!requirements.cluster.empty() && !inventory.cluster(requirements.cluster))
    return noCluster(requirements, user);
  if (!requirements.allocation.empty()) return namedAllocation(requirements, user, inventory);
  Allocations possible;
  for (const auto& [id, allocation] : inventory.allocations()) {
    if (mayUse(user, allocation) &&
        (requirements.cluster.empty() || requirements.cluster == allocation.cluster))
      possible.push_back(&allocation);
  }
  if (!possible.empty()) return possible;
  if (!requirements.cluster.empty() && !user.empty()) return noCluster(requirements, user);
  return failedPrecondition(
      "partition " + inQuotes(requirements.id) + ": there is no allocation" +
      (requirements.cluster.empty() ? std::string() : " in cluster " + inQuotes(requirements.cluster)) +
      (user.empty() ? std::string() : " that user " + inQuotes(user) + " may use") +
      ": an administrator creates one");
}

// In the order of the Pod model: segment by segment, IPUs from the bottom.
void takeBlock(const BlockPlace& place, PartitionSpec& spec) {
  spec.ipus.clear();
  spec.ipus.reserve(static_cast<std::size_t>(spec.size));
  for (int segment = 0; segment < place.segments; ++segment) {
    for (int i = 0; i < place.ipus; ++i)
      spec.ipus.push_back(
          {place.first_ild + segment, segment, place.first_ipu + i, segment * place.ipus + i});
  }
}

// The counts in the message about a missing block.
struct Room {
  int allocation_ipus = 0;
  int unusable = 0;
  int free = 0;
  int largest_free = 0;
  int largest = 0;  // if all were free

  void add(const Inventory& inventory, const Allocation& allocation, const OwnedIpus& owned, int segments) {
    const IpuMasks& all = inventory.ipusOf(allocation);
    const IpuMasks free_here = freeIpus(inventory, allocation, owned);
    allocation_ipus += countIpus(all);
    unusable += countIpus(withoutOwned(all, allocation.cluster, owned)) - countIpus(free_here);
    free += countIpus(free_here);
    largest_free = std::max(largest_free, largestBlock(free_here, segments));
    largest = std::max(largest, largestBlock(all, segments));
  }
};

std::string areFree(int ipus) {
  return counted(ipus, "IPU") + (ipus == 1 ? " is free" : " are free");
}

std::string inSegments(const PartitionSpec& spec) {
  return spec.num_segments == 1
             ? std::string()
             : " in each of " + std::to_string(spec.num_segments) + " neighbouring IPU-Link domains";
}

Status noRoom(std::string_view id, const PartitionSpec& spec, const Room& room) {
  const std::string needs = "partition " + inQuotes(id) + " needs a block of " +
                            counted(spec.segmentIpus(), "IPU") + inSegments(spec);
  if (room.largest < spec.segmentIpus())
    return failedPrecondition(needs + ", but the largest block" + inSegments(spec) + " has " +
                              std::to_string(room.largest) + ", of " +
                              counted(room.allocation_ipus, "allocated IPU") +
                              ": ask for a smaller size, or another allocation_id");
  std::string message = areFree(room.free) + ", the largest free block" + inSegments(spec) + " has " +
                        std::to_string(room.largest_free);
  if (room.unusable > 0)
    message += "; " + std::to_string(room.unusable) + " more are on machines that are lost or drained";
  return {Code::kResourceExhausted,
          message + ": " + needs + "; ask for a smaller size, or remove a partition"};
}

Result<PartitionSpec> plannedBlock(const PartitionRequirements& requirements, const PartitionSpec& base,
                                   const Allocations& possible, const Inventory& inventory,
                                   const OwnedIpus& owned) {
  std::optional<PartitionSpec> planned;
  std::optional<BlockFit> best;
  Status refused;
  Room room;
  bool routable = false;
  for (const Allocation* const allocation : possible) {
    PartitionSpec spec = base;
    if (const Status status = setRouting(requirements, *inventory.cluster(allocation->cluster), spec);
        !status.ok()) {
      refused = status;
      continue;
    }
    routable = true;
    const auto fit = bestFit(freeIpus(inventory, *allocation, owned), spec.num_segments, spec.segmentIpus());
    if (!fit || (best && best->taken_from <= fit->taken_from)) continue;
    best = fit;
    spec.cluster = allocation->cluster;
    spec.allocation = allocation->id;
    planned = std::move(spec);
  }
  if (!routable) return refused;
  if (best) {
    takeBlock(best->place, *planned);
    return std::move(*planned);
  }
  for (const Allocation* const allocation : possible)
    room.add(inventory, *allocation, owned, base.num_segments);
  return noRoom(requirements.id, base, room);
}

Status checkNamedIpu(const PartitionRequirements& requirements, const PartitionIpu& ipu,
                     const Allocation& allocation, const Inventory& inventory, const PartitionIndex& living) {
  const std::string what = "partition " + inQuotes(requirements.id) + ": IPU " +
                           std::to_string(ipu.topology_id) + " of IPU-Link domain " +
                           std::to_string(ipu.ild_topology_id);
  if (!contains(inventory.ipusOf(allocation), ipu))
    return failedPrecondition(
        what + " is not in allocation " + inQuotes(allocation.id) +
        ", and a partition is in one allocation: name other ipus or another allocation_id");
  if (const Partition* const owner = living.ownerOf(allocation.cluster, ipu))
    return failedPrecondition(what + " belongs to partition " + inQuotes(owner->id) +
                              ": name other ipus, or leave them out");
  if (contains(inventory.usableIpusOf(allocation), ipu)) return {};
  const Agent& machine =
      *inventory.agentAt(allocation.cluster, ipu.ild_topology_id, ipu.topology_id / kMachineIpus);
  return failedPrecondition(what + " is on machine " + inQuotes(machine.id) + ", which is " +
                            (machine.lost ? std::string("lost") : "drained (" + *machine.drained + ')') +
                            ": name other ipus, or leave them out");
}

Result<PartitionSpec> plannedIpus(const PartitionRequirements& requirements, PartitionSpec spec,
                                  const Allocations& possible, const Inventory& inventory,
                                  const PartitionIndex& living) {
  const auto has_first = [&](const Allocation* allocation) {
    return contains(inventory.ipusOf(*allocation), spec.ipus.front());
  };
  const auto home = std::find_if(possible.begin(), possible.end(), has_first);
  const Allocation& allocation = home == possible.end() ? *possible.front() : **home;
  for (const PartitionIpu& ipu : spec.ipus)
    POP_RETURN_IF_ERROR(checkNamedIpu(requirements, ipu, allocation, inventory, living));
  POP_RETURN_IF_ERROR(setRouting(requirements, *inventory.cluster(allocation.cluster), spec));
  spec.cluster = allocation.cluster;
  spec.allocation = allocation.id;
  return spec;
}

}  // namespace

Result<PartitionSpec> planPartition(const PartitionRequirements& requirements, std::string_view user,
                                    const Inventory& inventory, const PartitionIndex& living) {
  POP_ASSIGN_OR_RETURN(PartitionSpec spec, specOf(requirements));
  POP_ASSIGN_OR_RETURN(const Allocations possible, possibleAllocations(requirements, user, inventory));
  if (!spec.ipus.empty()) return plannedIpus(requirements, std::move(spec), possible, inventory, living);
  return plannedBlock(requirements, spec, possible, inventory, living.owned());
}

Result<PartitionSpec> planRelocation(std::string_view id, const PartitionSpec& spec,
                                     const Inventory& inventory, const OwnedIpus& owned) {
  const Allocation& allocation = *inventory.allocation(spec.allocation);
  const auto fit = bestFit(freeIpus(inventory, allocation, owned), spec.num_segments, spec.segmentIpus());
  if (!fit) {
    Room room;
    room.add(inventory, allocation, owned, spec.num_segments);
    room.largest = spec.segmentIpus();  // it has had such a block
    return noRoom(id, spec, room);
  }
  PartitionSpec moved = spec;
  takeBlock(fit->place, moved);
  return moved;
}

IpuMasks withoutOwned(IpuMasks ipus, std::string_view cluster, const OwnedIpus& owned) {
  const auto taken = owned.find(cluster);
  if (taken == owned.end()) return ipus;
  for (std::size_t ild = 0; ild < std::min(ipus.size(), taken->second.size()); ++ild)
    ipus[ild] &= ~taken->second[ild];
  return ipus;
}

IpuMasks freeIpus(const Inventory& inventory, const Allocation& allocation, const OwnedIpus& owned) {
  return withoutOwned(inventory.usableIpusOf(allocation), allocation.cluster, owned);
}

bool mayUse(std::string_view user, const Allocation& allocation) {
  return user.empty() || allocation.users.empty() ||
         std::find(allocation.users.begin(), allocation.users.end(), user) != allocation.users.end();
}

}  // namespace pop::vipu
