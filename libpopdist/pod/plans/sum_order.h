// SPDX-License-Identifier: Apache-2.0
// The order of summation of a schedule, as data: that of the partial sums which travel. Code that has all
// tensors in memory sums in this order and gets the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pod/collectives/schedule.h"

namespace popdist::pod {

using namespace pop::pod;

class SumOrder {
 public:
  /// A replica's own elements, or a sum that was made before.
  struct Term {
    bool is_sum = false;
    int index = 0;  ///< of the replica, or of the sum in sums()
  };
  /// Terms are added one after the other: ((a + b) + c) + …
  using Sum = std::vector<Term>;

  /// Looks at the transfers that reduce. Each block's sum over all replicas must end with one of them.
  /// O(transfers), in memory too.
  explicit SumOrder(const Schedule& schedule);

  std::uint32_t blocks() const { return static_cast<std::uint32_t>(sum_of_.size()); }
  /// The block's sum over all replicas.
  const Sum& sumOf(std::uint32_t block) const { return sums_[static_cast<std::size_t>(sum_of_[block])]; }
  const Sum& sum(int index) const { return sums_[static_cast<std::size_t>(index)]; }
  /// The replica that has it first.
  int ownerOf(std::uint32_t block) const { return owner_of_[block]; }
  /// Partial sums that must be kept while a block's sum is made; 0 if it is one sum of replicas.
  int buffers() const { return buffers_; }

 private:
  std::vector<Sum> sums_;
  std::vector<int> sum_of_;
  std::vector<int> owner_of_;
  int buffers_ = 0;
};

}  // namespace popdist::pod
