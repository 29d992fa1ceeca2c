// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/device_sum.h"

#include <string>
#include <utility>
#include <vector>

#include "libpopdist/collectives/api/context_impl.h"
#include "libpopdist/collectives/plan/ring.h"
#include "libpopdist/pod/device/local_sum.h"
#include "libpopdist/pod/device/memory_sum.h"
#include "libpopdist/pod/device/message_sum.h"
#include "libpopdist/pod/device/replica_map.h"
#include "pod/collectives/gcl.h"
#include "popdist/error.hpp"

namespace popdist::pod {

namespace {

// Errors begin with the function that the program called.
template <typename Make>
auto attaching(const Make& make) try {
  return make();
} catch (const popdist_error& error) {
  throw popdist_error(error.code(), std::string(kAttach) + ": " + error.what(),
                      {.rank = error.rank(), .peer = error.peer(), .operation = kAttach});
}

}  // namespace

std::shared_ptr<ReplicaMessages> messagesOfSums(Context& context,
                                                const std::vector<int>& instance_of_replica) {
  const int instances = context.numInstances();
  if (instances == 1 || calls::wouldShareMemory(context.impl().state, instances)) return nullptr;
  return attaching([&] { return std::make_shared<ReplicaMessages>(context, instance_of_replica); });
}

std::unique_ptr<DeviceSum> makeDeviceSum(Context& context, const ReplicaLayout& layout,
                                         std::vector<int> instance_of_replica,
                                         std::shared_ptr<ReplicaMessages> messages) {
  context::ContextState& state = context.impl().state;
  const int instances = context.numInstances();
  if (messages != nullptr)
    return std::make_unique<MessageSum>(std::move(messages), layout, std::move(instance_of_replica));
  if (instances == 1) return std::make_unique<LocalSum>(gclAllReduce(layout, layout.replicas));
  return std::make_unique<MemorySum>(
      attaching([&] { return calls::makeNativeGroup(state, plan::naturalOrder(instances)); }),
      gclAllReduce(layout, layout.replicas), context.impl().heap, state.link->segment(),
      std::move(instance_of_replica));
}

}  // namespace popdist::pod
