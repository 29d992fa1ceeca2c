// SPDX-License-Identifier: Apache-2.0
// The order of summation of GCL's all-reduce, as data: that of the partial sums which travel round the rings
// of planDeviceAllReduce(). Code that has all tensors in memory sums in this order and gets the same bits.
#pragma once

#include <cstddef>
#include <vector>

#include "libpopdist/collectives/plan/plan.h"
#include "libpopdist/pod/model/replica_layout.h"

namespace popdist::pod::gcl {

class SumOrder {
 public:
  /// By IPU-Link domain, its replicas: each domain's are summed one after the other, and then the domains'
  /// sums likewise.
  using Terms = std::vector<std::vector<int>>;

  /// `layout` must be valid. O(replicas^2), in memory too.
  explicit SumOrder(const ReplicaLayout& layout);

  /// Number of a tensor's blocks, in order: elements of one are summed in the same order.
  std::size_t blocks() const { return terms_.size(); }
  /// A block's elements of a tensor of `count` elements; may be none.
  plan::Range elementsOf(std::size_t block, std::size_t count) const;
  const Terms& termsOf(std::size_t block) const { return terms_[block]; }
  std::size_t domains() const { return static_cast<std::size_t>(ilds_); }

 private:
  const int per_ild_;
  const int ilds_;
  std::vector<Terms> terms_;  ///< by block
};

}  // namespace popdist::pod::gcl
