// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/pod/device/device_sum.h"

#include <utility>
#include <vector>

#include "libpopdist/src/context/context_impl.h"
#include "libpopdist/src/plan/ring.h"
#include "libpopdist/src/pod/device/memory_sum.h"
#include "libpopdist/src/pod/device/message_sum.h"
#include "libpopdist/src/pod/device/replica_map.h"

namespace popdist::pod {

using context::Group;
using context::Way;

std::unique_ptr<DeviceSum> makeDeviceSum(Context& context, const ReplicaLayout& layout) {
  context::Surroundings& surroundings = context.impl().surroundings;
  std::vector<int> instance_of_replica = instanceOfReplica(context);
  if (surroundings.num_local_instances == context.numInstances()) {
    auto instances = Group::create(surroundings, plan::naturalOrder(context.numInstances()), Way::kNative);
    if (instances->isShared()) {
      return std::make_unique<MemorySum>(std::move(instances), layout,
                                         MemorySum::Place{&context.impl().heap, surroundings.link->segment(),
                                                          std::move(instance_of_replica)});
    }
  }
  return std::make_unique<MessageSum>(
      Group::create(surroundings, std::move(instance_of_replica), Way::kMessages), layout);
}

}  // namespace popdist::pod
