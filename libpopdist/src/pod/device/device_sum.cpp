// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/pod/device/device_sum.h"

#include <utility>
#include <vector>

#include "libpopdist/src/context/context_impl.h"
#include "libpopdist/src/plan/ring.h"
#include "libpopdist/src/pod/device/local_sum.h"
#include "libpopdist/src/pod/device/memory_sum.h"
#include "libpopdist/src/pod/device/message_sum.h"
#include "libpopdist/src/pod/device/replica_map.h"

namespace popdist::pod {

using context::Group;
using context::GroupKind;

std::unique_ptr<DeviceSum> makeDeviceSum(Context& context, const ReplicaLayout& layout) {
  context::ContextState& state = context.impl().state;
  std::vector<int> instance_of_replica = instanceOfReplica(context);
  const int instances = context.numInstances();
  if (instances == 1) return std::make_unique<LocalSum>(layout);
  if (!Group::wouldBeShared(state, instances)) {
    return std::make_unique<MessageSum>(
        Group::create(state, std::move(instance_of_replica), GroupKind::kMessages), layout);
  }
  return std::make_unique<MemorySum>(
      Group::create(state, plan::naturalOrder(instances), GroupKind::kNative), layout,
      MemorySum::Place{&context.impl().heap, state.link->segment(), std::move(instance_of_replica)});
}

}  // namespace popdist::pod
