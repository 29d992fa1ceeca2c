// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/model/replica_layout.h"

#include <bit>

#include "common/base/text.h"
#include "libpopdist/pod/model/numbering.h"

namespace popdist::pod {
namespace {

std::string described(const ReplicaLayout& layout) {
  return pop::counted(layout.replicas, "replica") + " of " + pop::counted(layout.ipus_per_replica, "IPU") +
         " on " + layout.spec.name;
}

Status validateSpec(const PodSpec& spec) {
  if (spec.pods < 1 || spec.machines_per_pod < 1) {
    return pop::invalidArgument("Pod " + pop::inQuotes(spec.name) +
                                ": it needs at least one Pod and one IPU-Machine");
  }
  if (spec.machines_per_pod > kMaxIldIpus / PodSpec::kIpusPerMachine) {
    return pop::invalidArgument("Pod " + pop::inQuotes(spec.name) + ": " +
                                std::to_string(spec.machines_per_pod) +
                                " IPU-Machines in a Pod, but an IPU-Link domain has at most " +
                                std::to_string(kMaxIldIpus) + " IPUs: use more Pods");
  }
  return {};
}

Status validateSpread(const ReplicaLayout& layout) {
  const int ipus_per_pod = layout.spec.ipusPerPod();
  if (layout.ipuCount() <= ipus_per_pod || layout.ipuCount() % ipus_per_pod == 0) return {};
  const int replicas_per_pod = ipus_per_pod / layout.ipus_per_replica;
  const int full_pods = layout.ipuCount() / ipus_per_pod;
  return pop::invalidArgument(described(layout) + ": beyond one Pod, every Pod must hold equally many; use " +
                              std::to_string(full_pods * replicas_per_pod) + " or " +
                              std::to_string((full_pods + 1) * replicas_per_pod) + " replicas");
}

}  // namespace

Status validate(const ReplicaLayout& layout) {
  POP_RETURN_IF_ERROR(validateSpec(layout.spec));
  if (layout.replicas < 1)
    return pop::invalidArgument(described(layout) + ": there must be at least 1 replica");
  if (layout.ipus_per_replica < 1 || !std::has_single_bit(static_cast<unsigned>(layout.ipus_per_replica))) {
    return pop::invalidArgument(described(layout) +
                                ": the number of IPUs per replica must be a power of two");
  }
  const int ipus_per_pod = layout.spec.ipusPerPod();
  if (layout.ipus_per_replica > ipus_per_pod) {
    return pop::invalidArgument(
        described(layout) + ": a replica must fit in one IPU-Link domain, which has " +
        std::to_string(ipus_per_pod) + " IPUs; reduce the number of IPUs per replica");
  }
  const std::int64_t ipus = std::int64_t{layout.replicas} * layout.ipus_per_replica;
  if (ipus > layout.spec.ipuCount()) {
    return pop::invalidArgument(
        described(layout) + ": that takes " + std::to_string(ipus) + " IPUs and there are " +
        std::to_string(layout.spec.ipuCount()) +
        "; reduce the number of replicas or of IPUs per replica, or use a larger Pod");
  }
  if (ipus > ipus_per_pod && ipus_per_pod % layout.ipus_per_replica != 0) {
    return pop::invalidArgument(described(layout) + ": a replica would lie in two Pods, as " +
                                std::to_string(ipus_per_pod) +
                                " IPUs in a Pod do not divide into such replicas");
  }
  return validateSpread(layout);
}

}  // namespace popdist::pod
