// SPDX-License-Identifier: Apache-2.0
// Places of a job's replicas: replica 0 on the first IPUs of the first ILD, then one after the other. The
// order in which device collectives sum depends on this alone.
#pragma once

#include "pod/system/pod_spec.h"

namespace pop::pod {

struct ReplicaLayout {
  PodSpec spec;
  int replicas = 1;
  int ipus_per_replica = 1;

  int ipuCount() const { return replicas * ipus_per_replica; }
  /// IPU-Link domains that hold replicas.
  int ildCount() const { return (ipuCount() + spec.ildIpus() - 1) / spec.ildIpus(); }
  int replicasPerIld() const { return replicas / ildCount(); }
  /// IPUs in use in each IPU-Link domain.
  int ipusPerIld() const { return replicasPerIld() * ipus_per_replica; }
};

/// Each IPU of these replicas as a replica by itself: ranks of collectives within replicas. IPU i of replica
/// r is r * ipus_per_replica + i.
inline ReplicaLayout ofSingleIpus(const ReplicaLayout& layout) {
  return {layout.spec, layout.ipuCount(), 1};
}

/// kInvalidArgument unless the system can be and the replicas fit: a power of two of IPUs for each, within
/// one IPU-Link domain; all of them within the system; and every ILD that holds replicas holds equally many.
Status validate(const ReplicaLayout& layout);

}  // namespace pop::pod
