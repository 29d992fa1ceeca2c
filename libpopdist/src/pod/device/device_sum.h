// SPDX-License-Identifier: Apache-2.0
// Sums the tensors of a Pod's replicas: by messages between replicas, or in the memory of a host.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "common/base/status.h"
#include "libpopdist/src/pod/model/replica_layout.h"
#include "popdist/context.hpp"
#include "popdist/types.hpp"

namespace popdist::pod {

/// One tensor for each local replica, all of `count` elements.
struct DeviceTensors {
  std::span<void* const> local;
  std::size_t count = 0;
  Type type = Type::kFloat;
};

class DeviceSum {
 public:
  virtual ~DeviceSum() = default;

  /// All replicas' tensors become their sum, in the order of gcl/sum_order.h. Collective over all instances.
  /// Throws popdist_error, after which no further call is possible; or std::bad_alloc, after which abort()
  /// must follow.
  virtual void run(const DeviceTensors& tensors) = 0;
  /// Refuses a call before it has begun.
  [[noreturn]] virtual void refuse(const pop::Status& why) const = 0;
  /// Tells the other instances that this one aborts, and throws. No further call is possible.
  [[noreturn]] virtual void abort(const pop::Status& why) = 0;
};

/// Sums in memory if all instances share one host's memory or there is only one instance; otherwise by
/// messages. Collective over all instances. Throws popdist_error.
std::unique_ptr<DeviceSum> makeDeviceSum(Context& context, const ReplicaLayout& layout);

}  // namespace popdist::pod
