// SPDX-License-Identifier: Apache-2.0
// All living partitions, indexed by their IPUs and by the jobs that hold them. An IPU has one owner, and a
// job one partition.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/status.h"
#include "popdistd/partitions/cluster.h"
#include "popdistd/partitions/partition.h"

namespace pop::vipu {

class PartitionIndex {
 public:
  using Partitions = std::map<std::string, Partition, std::less<>>;

  /// Puts `after` in the place of `before`; nothing stands for a partition that does not live. The ids are
  /// the same, `before` is what is here now, and no other partition owns `after`'s IPUs: anything else is a
  /// bug.
  void replace(const std::optional<Partition>& before, const std::optional<Partition>& after);

  /// nullptr if there is none. Valid until the next replace().
  const Partition* find(std::string_view id) const;
  const Partition* heldBy(std::string_view job) const;
  const Partition* ownerOf(std::string_view cluster, const PartitionIpu& ipu) const;

  const Partitions& all() const { return partitions_; }
  const OwnedIpus& owned() const { return owned_; }

 private:
  void add(const Partition& partition);
  void drop(const Partition& partition);
  IpuMask& ildOf(const PartitionSpec& spec, const PartitionIpu& ipu);

  Partitions partitions_;
  OwnedIpus owned_;
  std::map<std::string, std::string, std::less<>> partition_of_;  // by job
};

/// True if the partition has an IPU of this machine.
bool uses(const Partition& partition, const Agent& machine);

}  // namespace pop::vipu
