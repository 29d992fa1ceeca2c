// SPDX-License-Identifier: Apache-2.0
// Which tensors are reduced together. A pure function of their sizes and types, so that all members come to
// the same buckets.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "popdist/fused.hpp"

namespace popdist::async {

/// Tensors of one type, one behind the other.
struct BucketPlan {
  Type type = Type::kFloat;
  std::size_t count = 0;             ///< elements of all
  std::vector<std::size_t> tensors;  ///< their indices, increasing
};

/// In the order in which they become full when tensors are ready in order.
std::vector<BucketPlan> planBuckets(std::span<const FusedTensor> tensors, std::size_t bucket_bytes);

/// Where the first of the tensors begins, if they follow each other in memory; else nullptr.
void* onePiece(const BucketPlan& bucket, std::span<const FusedTensor> tensors);

}  // namespace popdist::async
