// SPDX-License-Identifier: Apache-2.0
// Clusters and partitions in numbers: popdistd/api/measures.h.
#include <algorithm>

#include "popdistd/pods/pods.h"

namespace pop::popdistd {
namespace {

using vipu::PartitionState;

int& placeOf(const vipu::Partition& partition, IpuMeasures& ipus) {
  switch (partition.state) {
    case PartitionState::kError:
    case PartitionState::kFailed:
      return ipus.in_error;
    case PartitionState::kQuarantine:
      return ipus.quarantined;
    default:
      return partition.job.empty() ? ipus.held : ipus.used;
  }
}

}  // namespace

PodMeasures Pods::measures() const {
  PodMeasures measures{.meters = partitions_.meters(), .partitions = {}, .ipus = {}, .user_ipus = {}};
  const vipu::PartitionTable& table = partitions_.table();
  std::map<std::string, IpuMeasures> by_allocation;
  for (const auto& [id, allocation] : table.inventory().allocations()) {
    const Result<vipu::Capacity> capacity = table.capacityOf(id);
    if (!capacity.ok()) continue;
    by_allocation[id] = {.cluster = allocation.cluster,
                         .allocation = id,
                         .free = capacity.value().free,
                         .unusable = capacity.value().unusable,
                         .largest_free_block = capacity.value().largest_free_block};
  }
  for (const auto& [id, partition] : table.partitions()) {
    ++measures.partitions[vipu::nameOf(vipu::readyState(partition))];
    measures.user_ipus[partition.owner] += partition.spec.size;
    if (const auto found = by_allocation.find(partition.spec.allocation); found != by_allocation.end())
      placeOf(partition, found->second) += partition.spec.size;
  }
  for (auto& [id, ipus] : by_allocation) measures.ipus.push_back(std::move(ipus));
  return measures;
}

}  // namespace pop::popdistd
