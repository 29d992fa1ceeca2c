// SPDX-License-Identifier: Apache-2.0
#include "popdistd/web/partition_picture.h"

#include <algorithm>

#include "pod/draw/topology_svg.h"

namespace pop::popdistd {
namespace {

pod::IldTopology topologyOf(v1::LinkRouting routing) {
  if (routing == v1::LINK_ROUTING_BTNC) return pod::IldTopology::kBarleyTwist;
  return routing == v1::LINK_ROUTING_RINGSWNC ? pod::IldTopology::kTorus : pod::IldTopology::kMesh;
}

pod::PodShape shapeOf(const v1::PartitionInfo& partition) {
  const int segments = std::clamp(partition.num_segments(), 1, model::kMaxIlds);
  const int size = std::clamp(partition.size(), 1, model::kMaxIlds * model::kMaxIldIpus);
  const int ipus = (size + segments - 1) / segments;
  const int machines = (ipus + model::kMachineIpus - 1) / model::kMachineIpus;
  return {.ilds = segments,
          .machines_per_ild = std::clamp(machines, 1, model::kMaxIldMachines),
          .topology = topologyOf(partition.routing()),
          .gateways = partition.gateway_routing() == v1::GATEWAY_ROUTING_SWRING
                          ? pod::GatewayTopology::kSwitched
                          : pod::GatewayTopology::kRing};
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
