// SPDX-License-Identifier: Apache-2.0
// Groups of replicas that make a collective together, all groups at the same time. GCL's are of these: ALL,
// CONSECUTIVE (a stride of 1), ORTHOGONAL (as large a stride as there is).
#pragma once

#include "common/base/status.h"
#include "pod/system/replica_layout.h"

namespace pop::pod {

/// A group is replica i * stride + j of each size * stride replicas, for i from 0 on: i is a replica's place.
struct ReplicaGroup {
  int size = 1;
  int stride = 1;

  // NOLINTNEXTLINE(google-explicit-constructor): a number means so many consecutive replicas
  ReplicaGroup(int replicas, int apart = 1) : size(replicas), stride(apart) {}

  int placeOf(int replica) const { return replica / stride % size; }
  /// The replica at another place of the same group.
  int with(int replica, int place) const { return replica + (place - placeOf(replica)) * stride; }

  friend bool operator==(const ReplicaGroup&, const ReplicaGroup&) = default;
};

/// kInvalidArgument unless the groups hold all of so many replicas.
Status validate(const ReplicaGroup& group, int replicas);
/// The same of groups of a replica's IPUs.
Status validateWithin(const ReplicaGroup& group, int ipus_per_replica);

}  // namespace pop::pod
