// SPDX-License-Identifier: Apache-2.0
// Sums the tensors of a Pod's replicas: by messages between replicas, or in the memory of a host.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/collectives/plan/operation.h"
#include "libpopdist/collectives/plan/plan.h"
#include "libpopdist/pod/device/replica_messages.h"
#include "pod/system/replica_layout.h"
#include "popdist/context.hpp"
#include "popdist/types.hpp"

namespace popdist::pod {

using namespace pop::pod;

/// One tensor for each local replica, all of `count` elements.
struct DeviceTensors {
  std::span<void* const> local;
  std::size_t count = 0;
  Type type = Type::kFloat;
  /// The part that each instance needs, in its first tensor: the same elements as another one, or none of
  /// its. Empty: all replicas need all.
  std::span<const plan::Range> parts{};

  plan::Operation operation() const {
    return parts.empty() ? plan::kDeviceAllReduce : plan::kDeviceReduceScatter;
  }
};

class DeviceSum {
 public:
  virtual ~DeviceSum() = default;

  /// All replicas' tensors become their sum, in the order of plans/sum_order.h, as far as it is needed; other
  /// elements may change, too. Collective over all instances. Throws popdist_error, after which no further
  /// call is possible; or std::bad_alloc, after which abort() must follow.
  virtual void run(const DeviceTensors& tensors) = 0;
  /// Refuses a call before it has begun.
  [[noreturn]] virtual void refuse(plan::Operation call, const pop::Status& why) const = 0;
  /// Tells the other instances that this one aborts its last call, and throws. No further call is possible.
  [[noreturn]] virtual void abort(plan::Operation call, const pop::Status& why) = 0;
};

/// The messages that sums need: nullptr if all instances share one host's memory. Collective over all
/// instances. Throws popdist_error.
std::shared_ptr<ReplicaMessages> messagesOfSums(Context& context,
                                                const std::vector<int>& instance_of_replica);

/// Sums by `messages`, or in memory if there are none. Collective over all instances. Throws popdist_error.
std::unique_ptr<DeviceSum> makeDeviceSum(Context& context, const ReplicaLayout& layout,
                                         std::vector<int> instance_of_replica,
                                         std::shared_ptr<ReplicaMessages> messages);

}  // namespace popdist::pod
