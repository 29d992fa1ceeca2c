// SPDX-License-Identifier: Apache-2.0
#include "pod/system/replica_layout.h"

#include <bit>

#include "common/base/text.h"
#include "pod/system/link_configuration.h"
#include "pod/system/numbering.h"

namespace pop::pod {
namespace {

std::string described(const ReplicaLayout& layout) {
  return counted(layout.replicas, "replica") + " of " + counted(layout.ipus_per_replica, "IPU") + " on " +
         layout.spec.name;
}

Status validateSpec(const PodSpec& spec) {
  if (spec.wiring) return {};  // as it was read
  if (spec.shape.ilds < 1 || spec.shape.machines_per_ild < 1 || spec.machines_per_gateway < 1) {
    return invalidArgument("Pod " + inQuotes(spec.name) +
                           ": it needs at least one IPU-Link domain and one IPU-Machine");
  }
  if (spec.shape.ilds > model::kMaxIlds) {
    return invalidArgument("Pod " + inQuotes(spec.name) + ": " + std::to_string(spec.shape.ilds) +
                           " IPU-Link domains, but it has at most " + std::to_string(model::kMaxIlds));
  }
  if (spec.shape.machines_per_ild > model::kMaxIldMachines) {
    return invalidArgument("Pod " + inQuotes(spec.name) + ": " + std::to_string(spec.shape.machines_per_ild) +
                           " IPU-Machines in an IPU-Link domain, which has at most " +
                           std::to_string(kMaxIldIpus) + " IPUs: use more domains");
  }
  return {};
}

// A mesh and a torus are configured for any replicas.
Status checkTwist(const ReplicaLayout& layout) {
  if (layout.spec.ringTopology() != IldTopology::kBarleyTwist) return {};
  return checkLinkConfiguration(LinkConfiguration::kBarleyTwist, IldTopology::kBarleyTwist,
                                layout.ipus_per_replica);
}

Status validateSpread(const ReplicaLayout& layout) {
  const int ild_ipus = layout.spec.ildIpus();
  if (layout.ipuCount() <= ild_ipus || layout.ipuCount() % ild_ipus == 0) return {};
  const int per_ild = ild_ipus / layout.ipus_per_replica;
  const int full_ilds = layout.ipuCount() / ild_ipus;
  return invalidArgument(
      described(layout) + ": beyond one IPU-Link domain, each must hold equally many; use " +
      std::to_string(full_ilds * per_ild) + " or " + std::to_string((full_ilds + 1) * per_ild) + " replicas");
}

}  // namespace

Status validate(const ReplicaLayout& layout) {
  POP_RETURN_IF_ERROR(validateSpec(layout.spec));
  if (layout.replicas < 1) return invalidArgument(described(layout) + ": there must be at least 1 replica");
  if (layout.ipus_per_replica < 1 || !std::has_single_bit(static_cast<unsigned>(layout.ipus_per_replica))) {
    return invalidArgument(described(layout) + ": the number of IPUs per replica must be a power of two");
  }
  POP_RETURN_IF_ERROR(checkTwist(layout));
  const int ild_ipus = layout.spec.ildIpus();
  if (layout.ipus_per_replica > ild_ipus) {
    return invalidArgument(described(layout) + ": a replica must fit in one IPU-Link domain, which has " +
                           std::to_string(ild_ipus) + " IPUs; reduce the number of IPUs per replica");
  }
  const std::int64_t ipus = std::int64_t{layout.replicas} * layout.ipus_per_replica;
  if (ipus > layout.spec.ipuCount()) {
    return invalidArgument(described(layout) + ": that takes " + std::to_string(ipus) +
                           " IPUs and there are " + std::to_string(layout.spec.ipuCount()) +
                           "; reduce the number of replicas or of IPUs per replica, or use a larger Pod");
  }
  if (ipus > ild_ipus && ild_ipus % layout.ipus_per_replica != 0) {
    return invalidArgument(described(layout) + ": a replica would lie in two IPU-Link domains, as " +
                           std::to_string(ild_ipus) + " IPUs in each do not divide into such replicas");
  }
  return validateSpread(layout);
}

}  // namespace pop::pod
