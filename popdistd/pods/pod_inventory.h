// SPDX-License-Identifier: Apache-2.0
// Clusters, agents and allocations with their records in the store. What has been written is durable with the
// next commit. Errors are those of vipu::Inventory.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "common/base/status.h"
#include "popdistd/common/commits.h"
#include "popdistd/pods/partitions.h"

namespace pop::popdistd {

class PodInventory {
 public:
  PodInventory(Store& store, Commits& commits, Partitions& partitions)
      : store_(store), commits_(commits), partitions_(partitions) {}

  /// A table with what the store has, and no partitions. kDataLoss: it cannot be read, or contradicts itself.
  Result<std::unique_ptr<vipu::PartitionTable>> load();

  Status addCluster(const v1::ClusterInfo& message);
  Status addAgent(const v1::AgentInfo& message);
  /// `replace`: the one of its id; else there must be none.
  Status setAllocation(const v1::AllocationInfo& message, bool replace);
  Status removeCluster(const std::string& id);
  Status removeAgent(const std::string& id);
  Status removeAllocation(const std::string& id);
  Status drain(const std::string& agent, const std::string& reason, const std::string& by);
  Status resume(const std::string& agent);

  /// They exist.
  v1::ClusterInfo showCluster(const std::string& id) const;
  v1::AgentInfo showAgent(const std::string& id) const;
  v1::AllocationInfo showAllocation(const std::string& id) const;

 private:
  vipu::PartitionTable& table() { return partitions_.table(); }
  const vipu::Inventory& inventory() const { return partitions_.table().inventory(); }
  void saveAgent(const std::string& id);
  void put(RecordKind kind, const std::string& id, const std::string& bytes);
  Status drop(RecordKind kind, const std::string& id, const Status& removed);

  Store& store_;
  Commits& commits_;
  Partitions& partitions_;
  std::map<std::string, std::string> drained_by_;
};

}  // namespace pop::popdistd
