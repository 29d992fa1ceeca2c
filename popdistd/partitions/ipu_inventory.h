// SPDX-License-Identifier: Apache-2.0
// The clusters, IPU-Machines and allocations that there are. Values only: PartitionTable has the partitions,
// and checks that a thing is not in use before it goes.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "popdistd/partitions/cluster.h"

namespace pop::vipu {

/// A name of a partition, cluster, agent or allocation is part of file names and tables: letters, digits,
/// '.', '_' and
/// '-', at most 128 of them, a letter or digit first. kInvalidArgument otherwise, with `what` ("partition")
/// in it.
Status checkName(std::string_view what, std::string_view name);

class Inventory {
 public:
  template <typename T>
  using ById = std::map<std::string, T, std::less<>>;

  /// Each refuses what names something unknown (kNotFound), exists (kAlreadyExists), is out of its range
  /// (kInvalidArgument) or has another's place (kFailedPrecondition), and then changes nothing.
  Status addCluster(Cluster cluster);
  Status addAgent(Agent agent);
  /// Takes over the host, address and versions that an agent with its id and place reports. Its lost and
  /// drained states stay.
  Status updateAgent(const Agent& agent);
  /// Adds the allocation, or puts it in the place of the one with its id.
  Status setAllocation(Allocation allocation);

  /// kNotFound; kFailedPrecondition while agents or allocations belong to it.
  Status removeCluster(std::string_view id);
  Status removeAgent(std::string_view id);
  Status removeAllocation(std::string_view id);

  Status setDrained(std::string_view agent, std::optional<std::string> reason);
  Status setLost(std::string_view agent, bool lost);

  /// nullptr if there is none. Valid until it is removed.
  const Cluster* cluster(std::string_view id) const;
  const Agent* agent(std::string_view id) const;
  const Agent* agentAt(std::string_view cluster, int ild, int position) const;
  const Allocation* allocation(std::string_view id) const;
  const Allocation* allocationOf(const Agent& agent) const;

  const ById<Cluster>& clusters() const { return clusters_; }
  const ById<Agent>& agents() const { return agents_; }
  const ById<Allocation>& allocations() const { return allocations_; }

  /// The agents of an allocation by ILD and position.
  std::vector<const Agent*> agentsOf(const Allocation& allocation) const;

  /// All IPUs of an allocation, and those on machines that are neither lost nor drained.
  const IpuMasks& ipusOf(const Allocation& allocation) const;
  const IpuMasks& usableIpusOf(const Allocation& allocation) const;

 private:
  struct Masks {
    IpuMasks all;
    IpuMasks usable;
  };

  Status checkAllocation(const Allocation& allocation) const;
  void updateMasks(const Allocation& allocation);
  void updateMasksWith(const Agent& agent);

  ById<Cluster> clusters_;
  ById<Agent> agents_;
  ById<Allocation> allocations_;
  std::map<std::pair<std::string, int>, std::string> slots_;  // the agent at (cluster, slotOf())
  ById<std::string> allocation_of_;                           // by agent
  ById<Masks> masks_;                                         // by allocation
};

}  // namespace pop::vipu
