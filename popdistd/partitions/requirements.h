// SPDX-License-Identifier: Apache-2.0
// A client's requirements of a partition, as V-IPU's public API has them (PartitionRequirements), and the
// specification made of them: mistakes found, defaults filled in. 0, empty and undefined mean: not asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "popdistd/partitions/partition.h"

namespace pop::vipu {

struct PartitionRequirements {
  std::string id;
  std::uint32_t size = 0;
  std::string cluster;     ///< none: any
  std::string allocation;  ///< none: any that the user may use
  IpuLinkRouting routing = IpuLinkRouting::kUndefined;
  GatewayRouting gw_routing = GatewayRouting::kUndefined;
  SyncType sync = SyncType::kUndefined;
  std::uint32_t num_segments = 0;  ///< 0: 1
  std::uint32_t num_gcds = 0;      ///< 0: 1
  std::uint32_t num_replicas = 0;  ///< 0: one for each GCD
  bool reconfigurable = false;
  /// These IPUs and no others; needs `cluster`. All routing ids 0: numbered in their order in the cluster.
  /// With routing ids, each ILD's IPUs must follow each other.
  std::vector<PartitionIpu> ipus;
};

/// The specification that the requirements describe in any cluster: its cluster, allocation and routing are
/// not set, its IPUs only if the requirements name them. kInvalidArgument: a name that is none, a size that
/// is not a power of two, segments, GCDs or replicas that do not divide or fit it, sync types that exclude
/// each other, IPUs without cluster or not as described above.
Result<PartitionSpec> specOf(const PartitionRequirements& requirements);

/// Sets the specification's routing to what is asked for, or else to the default for its size in this
/// cluster: of a whole torus RINGSWNC, over several machines SWNC, within one or reconfigurable DNC.
/// kInvalidArgument if the cluster has not the links for it.
Status setRouting(const PartitionRequirements& requirements, const Cluster& cluster, PartitionSpec& spec);

}  // namespace pop::vipu
