// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/pod/device/device_sum.h"

#include <string>
#include <utility>
#include <vector>

#include "libpopdist/src/context/context_impl.h"
#include "libpopdist/src/plan/ring.h"
#include "libpopdist/src/pod/device/local_sum.h"
#include "libpopdist/src/pod/device/memory_sum.h"
#include "libpopdist/src/pod/device/message_sum.h"
#include "libpopdist/src/pod/device/replica_map.h"
#include "popdist/error.hpp"

namespace popdist::pod {

using context::Group;
using context::GroupKind;

namespace {

// Errors begin with what the program has asked for.
std::unique_ptr<Group> createGroup(context::ContextState& state, std::vector<int> instance_of_rank,
                                   GroupKind kind) try {
  return Group::create(state, std::move(instance_of_rank), kind);
} catch (const popdist_error& error) {
  throw popdist_error(error.code(), std::string(kAttach) + ": " + error.what(),
                      {.rank = error.rank(), .peer = error.peer(), .operation = kAttach});
}

}  // namespace

std::unique_ptr<DeviceSum> makeDeviceSum(Context& context, const ReplicaLayout& layout) {
  context::ContextState& state = context.impl().state;
  std::vector<int> instance_of_replica = instanceOfReplica(context);
  const int instances = context.numInstances();
  if (instances == 1) return std::make_unique<LocalSum>(layout);
  if (!Group::wouldBeShared(state, instances)) {
    return std::make_unique<MessageSum>(
        createGroup(state, std::move(instance_of_replica), GroupKind::kMessages), layout);
  }
  return std::make_unique<MemorySum>(
      createGroup(state, plan::naturalOrder(instances), GroupKind::kNative), layout,
      MemorySum::Place{&context.impl().heap, state.link->segment(), std::move(instance_of_replica)});
}

}  // namespace popdist::pod
