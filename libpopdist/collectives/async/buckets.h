// SPDX-License-Identifier: Apache-2.0
// Decides which tensors are reduced together. A pure function of their sizes and types, so all members get
// the same buckets.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "popdist/fused.hpp"

namespace popdist::async {

/// Tensors of one type, one after the other.
struct BucketPlan {
  Type type = Type::kFloat;
  std::size_t count = 0;             ///< elements of all
  std::vector<std::size_t> tensors;  ///< their indices, increasing
};

/// The buckets, in the order in which they become full when tensors are ready in order.
std::vector<BucketPlan> planBuckets(std::span<const FusedTensor> tensors, std::size_t bucket_bytes);

/// The address of the first tensor if the tensors are contiguous in memory; otherwise nullptr.
void* onePiece(const BucketPlan& bucket, std::span<const FusedTensor> tensors);

}  // namespace popdist::async
