// SPDX-License-Identifier: Apache-2.0
// The order of summation of GCL's all-reduce, as data: that of the partial sums which travel round the rings
// of planDeviceAllReduce(). Who has all tensors at hand sums in this order, and has the same bits.
#pragma once

#include <cstddef>
#include <vector>

#include "libpopdist/src/plan/plan.h"
#include "libpopdist/src/pod/model/replica_layout.h"

namespace popdist::pod::gcl {

/// Elements that are summed in the same order.
struct SumBlock {
  plan::Range elements;
  /// By IPU-Link domain, its replicas: each domain's are summed one after the other, and then the domains'
  /// sums likewise.
  std::vector<std::vector<int>> domains;
};

/// All of a tensor of `count` elements, in order; blocks without elements are left out. O(replicas^2).
/// `layout` must be valid.
std::vector<SumBlock> sumOrder(const ReplicaLayout& layout, std::size_t count);

}  // namespace popdist::pod::gcl
