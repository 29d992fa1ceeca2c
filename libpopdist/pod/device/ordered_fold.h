// SPDX-License-Identifier: Apache-2.0
// Sums replicas' tensors in GCL's order, in memory that this process can reach.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "libpopdist/pod/plans/schedule_plans.h"
#include "libpopdist/pod/plans/sum_order.h"
#include "popdist/types.hpp"

namespace popdist::pod {

class OrderedFold {
 public:
  explicit OrderedFold(const Schedule& schedule);

  /// For each of `to`: to[i] = the sum of all replicas' from[replica][i], i being the elements of `part`, of
  /// `count`, counted from its beginning. A partial sum has the type of the elements after each addition, as
  /// one that travels has. A destination may be a source, too, but must not overlap one otherwise.
  void run(std::size_t count, Type type, plan::Range part, std::span<const std::byte* const> from,
           std::span<std::byte* const> to);

 private:
  /// Elements of all replicas, from an offset on.
  struct Piece {
    std::span<const std::byte* const> from;
    std::size_t offset_bytes = 0;
    std::size_t count = 0;
  };

  void fold(const SumOrder::Sum& sum, const Piece& piece, std::span<void* const> to, std::size_t free_buffer);
  void chain(std::span<void* const> to, std::span<const void* const> from, std::size_t count);
  std::byte* scratch(std::size_t index);

  const Schedule schedule_;
  const SumOrder order_;
  Type type_ = Type::kFloat;
  std::vector<std::byte> scratch_;
  std::vector<std::vector<const void*>> sources_;  ///< by the buffers in use
  std::vector<void*> to_;
};

}  // namespace popdist::pod
