// SPDX-License-Identifier: Apache-2.0
#include "common/model/placement.h"

#include <algorithm>
#include <cstdint>

#include "common/base/check.h"

namespace pop::model {
namespace {

// The number of instances on each host, in order.
std::vector<int> instancesPerHost(const JobSpec& spec) {
  const int hosts = static_cast<int>(spec.hosts.size());
  std::vector<int> instances;
  const bool by_slots = hasSlots(spec);
  int left = spec.num_instances;
  for (const Host& host : spec.hosts) {
    instances.push_back(by_slots ? std::min(left, slotsOf(host)) : spec.num_instances / hosts);
    left -= instances.back();
  }
  POP_CHECK(left == 0);
  return instances;
}

int ildOf(const JobSpec& spec, int instance, int first_replica) {
  if (spec.num_ilds) return static_cast<int>(std::int64_t{instance} * *spec.num_ilds / spec.num_instances);
  return static_cast<int>(std::int64_t{first_replica} * spec.ipus_per_replica / kMaxIldIpus);
}

}  // namespace

std::vector<InstancePlacement> place(const JobSpec& spec) {
  POP_CHECK(uniformReplicas(spec) || spec.uneven_replicas);
  std::vector<InstancePlacement> placements;
  int host = 0;
  for (const int instances : instancesPerHost(spec)) {
    for (int local_instance = 0; local_instance < instances; ++local_instance) {
      const int instance = static_cast<int>(placements.size());
      const int first_replica = firstReplicaOf(spec, instance);
      placements.push_back({.instance = instance,
                            .host = host,
                            .local_instance = local_instance,
                            .first_replica = first_replica,
                            .num_replicas = firstReplicaOf(spec, instance + 1) - first_replica,
                            .ild = ildOf(spec, instance, first_replica)});
    }
    ++host;
  }
  return placements;
}

}  // namespace pop::model
