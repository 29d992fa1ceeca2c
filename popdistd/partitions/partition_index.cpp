// SPDX-License-Identifier: Apache-2.0
#include "popdistd/partitions/partition_index.h"

#include <algorithm>

#include "common/base/check.h"

namespace pop::vipu {

void PartitionIndex::replace(const std::optional<Partition>& before, const std::optional<Partition>& after) {
  POP_CHECK(before || after);
  if (before) drop(*before);
  if (after) add(*after);
}

IpuMask& PartitionIndex::ildOf(const PartitionSpec& spec, const PartitionIpu& ipu) {
  IpuMasks& masks = owned_.try_emplace(spec.cluster).first->second;
  const auto ild = static_cast<std::size_t>(ipu.ild_topology_id);
  if (masks.size() <= ild) masks.resize(ild + 1);
  return masks[ild];
}

void PartitionIndex::add(const Partition& partition) {
  for (const PartitionIpu& ipu : partition.spec.ipus) {
    IpuMask& ild = ildOf(partition.spec, ipu);
    POP_CHECK((ild >> ipu.topology_id & 1U) == 0);
    ild |= IpuMask{1} << ipu.topology_id;
  }
  if (!partition.job.empty()) POP_CHECK(partition_of_.emplace(partition.job, partition.id).second);
  POP_CHECK(partitions_.emplace(partition.id, partition).second);
}

void PartitionIndex::drop(const Partition& partition) {
  const auto found = partitions_.find(partition.id);
  POP_CHECK(found != partitions_.end() && found->second == partition);
  for (const PartitionIpu& ipu : partition.spec.ipus)
    ildOf(partition.spec, ipu) &= ~(IpuMask{1} << ipu.topology_id);
  if (!partition.job.empty()) partition_of_.erase(partition.job);
  partitions_.erase(found);
}

const Partition* PartitionIndex::find(std::string_view id) const {
  const auto found = partitions_.find(id);
  return found == partitions_.end() ? nullptr : &found->second;
}

const Partition* PartitionIndex::heldBy(std::string_view job) const {
  const auto found = partition_of_.find(job);
  return found == partition_of_.end() ? nullptr : find(found->second);
}

// The masks answer for all IPUs that are free.
const Partition* PartitionIndex::ownerOf(std::string_view cluster, const PartitionIpu& ipu) const {
  const auto masks = owned_.find(cluster);
  if (masks == owned_.end() || !contains(masks->second, ipu)) return nullptr;
  for (const auto& [id, partition] : partitions_) {
    if (partition.spec.cluster != cluster) continue;
    for (const PartitionIpu& own : partition.spec.ipus)
      if (own.ild_topology_id == ipu.ild_topology_id && own.topology_id == ipu.topology_id) return &partition;
  }
  return nullptr;
}

bool uses(const Partition& partition, const Agent& machine) {
  return partition.spec.cluster == machine.cluster &&
         std::any_of(partition.spec.ipus.begin(), partition.spec.ipus.end(), [&](const PartitionIpu& ipu) {
           return ipu.ild_topology_id == machine.ild && ipu.topology_id / kMachineIpus == machine.position;
         });
}

}  // namespace pop::vipu
