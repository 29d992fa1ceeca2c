// SPDX-License-Identifier: Apache-2.0
#include "common/model/placement.h"

#include "common/base/check.h"

namespace pop::model {

std::vector<InstancePlacement> place(const JobSpec& spec) {
  const int hosts = static_cast<int>(spec.hosts.size());
  POP_CHECK(spec.num_instances % hosts == 0 && spec.num_replicas % spec.num_instances == 0);
  const int instances_per_host = spec.num_instances / hosts;
  const int replicas_per_instance = spec.num_replicas / spec.num_instances;

  std::vector<InstancePlacement> placements;
  for (int instance = 0; instance < spec.num_instances; ++instance) {
    placements.push_back({.instance = instance,
                          .host = instance / instances_per_host,
                          .local_instance = instance % instances_per_host,
                          .first_replica = instance * replicas_per_instance,
                          .num_replicas = replicas_per_instance,
                          .ild = instance * replicas_per_instance * spec.ipus_per_replica / kIpusPerIld});
  }
  return placements;
}

}  // namespace pop::model
