// SPDX-License-Identifier: Apache-2.0
#include "popdistd/partitions/partition_system.h"

#include <algorithm>

#include "common/base/text.h"
#include "pod/system/job_system.h"
#include "pod/system/link_configuration.h"
#include "pod/system/system_text.h"

namespace pop::vipu {
namespace {

IldTopology topologyOf(IpuLinkRouting routing) {
  switch (routing) {
    case IpuLinkRouting::kRingSwnc:
      return IldTopology::kTorus;
    case IpuLinkRouting::kBtnc:
      return IldTopology::kBarleyTwist;
    default:
      return IldTopology::kMesh;
  }
}

// "2 IPU-Link domains of 64 IPUs (torus, GW-Links in a ring)"
std::string shapeText(const model::PodShape& shape) {
  return counted(shape.ilds, "IPU-Link domain") + " of " + counted(shape.ildIpus(), "IPU") + " (" +
         std::string(pod::nameOf(shape.topology)) +
         (shape.ilds == 1                                ? ")"
          : shape.gateways == GatewayTopology::kSwitched ? ", GW-Links over switches)"
                                                         : ", GW-Links in a ring)");
}

// Gateways of a single ILD are joined to none.
bool isAlike(const model::PodShape& a, model::PodShape b) {
  if (a.ilds == 1) b.gateways = a.gateways;
  return a == b;
}

}  // namespace

model::PodShape shapeOf(const PartitionSpec& spec) {
  return {.ilds = spec.num_segments,
          .machines_per_ild = std::max(1, spec.segmentIpus() / kMachineIpus),
          .topology = topologyOf(spec.routing),
          .gateways = spec.gw_routing == GatewayRouting::kSwRing ? GatewayTopology::kSwitched
                                                                 : GatewayTopology::kRing};
}

Result<std::string> systemFor(const model::JobSpec& job, std::string_view id, const PartitionSpec& spec) {
  const model::PodShape shape = shapeOf(spec);
  if (job.system.empty()) {
    pod::PodSpec own;
    own.name = id;
    own.shape = shape;
    return pod::systemLine(own);
  }
  POP_ASSIGN_OR_RETURN(const pod::PodSpec named, pod::jobSystem(job.system, "--system", 1));
  if (!named.wiring && isAlike(named.shape, shape)) return job.system;
  return failedPrecondition(
      "system " + inQuotes(named.name) + " (--system) has " +
      (named.wiring ? "links of its own" : shapeText(named.shape)) + ", and partition " + inQuotes(id) + " " +
      shapeText(shape) +
      ": leave --system out, and the job has the partition as its Pod, or name one of that shape");
}

}  // namespace pop::vipu
