// SPDX-License-Identifier: Apache-2.0
// How the tensors of a Pod's replicas are summed: by messages between replicas, or in the memory of a host.
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
  /// Throws popdist_error, and no further call is possible then; or std::bad_alloc: abort() is to follow.
  virtual void run(const DeviceTensors& tensors) = 0;
  /// Refuses a call that was not begun.
  [[noreturn]] virtual void refuse(const pop::Status& why) const = 0;
  /// Tells the other instances that this one gives up. No further call is possible.
  [[noreturn]] virtual void abort(const pop::Status& why) = 0;
};

/// In memory where all instances are on one host and share theirs, or there is but one; else by messages.
/// Collective over all instances. Throws popdist_error.
std::unique_ptr<DeviceSum> makeDeviceSum(Context& context, const ReplicaLayout& layout);

}  // namespace popdist::pod
