// SPDX-License-Identifier: Apache-2.0
#include "pod/collectives/replica_group.h"

#include <string>

#include "common/base/text.h"

namespace pop::pod {
namespace {

Status validate(const ReplicaGroup& group, int members, const std::string& noun, const std::string& whose) {
  const bool fits = group.size >= 1 && group.stride >= 1 && group.size <= members &&
                    group.stride <= members / group.size && members % (group.size * group.stride) == 0;
  if (fits) return {};
  const std::string apart = group.stride == 1 ? "" : " " + std::to_string(group.stride) + " apart";
  return invalidArgument("groups of " + std::to_string(group.size) + " " + noun + "s" + apart +
                         " do not divide the " + whose + " " + counted(members, noun));
}

}  // namespace

Status validate(const ReplicaGroup& group, int replicas) {
  return validate(group, replicas, "replica", "job's");
}

Status validateWithin(const ReplicaGroup& group, int ipus_per_replica) {
  return validate(group, ipus_per_replica, "IPU", "replica's");
}

}  // namespace pop::pod
