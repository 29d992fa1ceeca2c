// SPDX-License-Identifier: Apache-2.0
#include "popdistd/web/partition_picture.h"

#include <algorithm>

#include "pod/draw/topology_svg.h"
#include "popdistd/partitions/partition_system.h"

namespace pop::popdistd {
namespace {

// The picture is bounded, whatever a record says.
pod::PodShape shapeOf(const v1::PartitionInfo& partition) {
  vipu::PartitionSpec spec;
  spec.routing = static_cast<vipu::IpuLinkRouting>(partition.routing());
  spec.gw_routing = static_cast<vipu::GatewayRouting>(partition.gateway_routing());
  spec.num_segments = std::clamp(partition.num_segments(), 1, model::kMaxIlds);
  spec.size = std::max(1, partition.size());
  pod::PodShape shape = vipu::shapeOf(spec);
  shape.machines_per_ild = std::min(shape.machines_per_ild, model::kMaxIldMachines);
  return shape;
}

}  // namespace

std::string partitionPicture(const v1::PartitionInfo& partition) {
  pod::ReplicaLayout layout;
  layout.spec.name = partition.id();
  layout.spec.shape = shapeOf(partition);
  layout.replicas = std::max(1, partition.num_replicas());
  layout.ipus_per_replica = std::max(1, partition.size() / layout.replicas);
  return pod::validate(layout).ok() ? pod::topologySvg(layout) : pod::topologySvg(layout.spec);
}

}  // namespace pop::popdistd
