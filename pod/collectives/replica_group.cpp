// SPDX-License-Identifier: Apache-2.0
#include "pod/collectives/replica_group.h"

#include <string>

#include "common/base/text.h"

namespace pop::pod {

Status validate(const ReplicaGroup& group, int replicas) {
  const bool fits = group.size >= 1 && group.stride >= 1 && group.size <= replicas &&
                    group.stride <= replicas / group.size && replicas % (group.size * group.stride) == 0;
  if (fits) return {};
  const std::string apart = group.stride == 1 ? "" : " " + std::to_string(group.stride) + " apart";
  return invalidArgument("groups of " + std::to_string(group.size) + " replicas" + apart +
                         " do not divide the job's " + counted(replicas, "replica"));
}

}  // namespace pop::pod
