// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/async/buckets.h"

#include <algorithm>
#include <map>
#include <utility>

namespace popdist::async {

std::vector<BucketPlan> planBuckets(std::span<const FusedTensor> tensors, std::size_t bucket_bytes) {
  std::vector<BucketPlan> buckets;
  std::map<Type, BucketPlan> open;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const FusedTensor& tensor = tensors[i];
    BucketPlan& bucket = open.try_emplace(tensor.type, BucketPlan{.type = tensor.type}).first->second;
    const std::size_t most = bucket_bytes / sizeOf(tensor.type);
    const bool fits = tensor.count <= most && bucket.count <= most - tensor.count;
    if (!fits && !bucket.tensors.empty())
      buckets.push_back(std::exchange(bucket, BucketPlan{.type = tensor.type}));
    bucket.tensors.push_back(i);
    bucket.count += tensor.count;
  }
  for (auto& [type, bucket] : open) buckets.push_back(std::move(bucket));
  const auto last = [](const BucketPlan& bucket) { return bucket.tensors.back(); };
  std::sort(buckets.begin(), buckets.end(),
            [&](const BucketPlan& one, const BucketPlan& other) { return last(one) < last(other); });
  return buckets;
}

void* onePiece(const BucketPlan& bucket, std::span<const FusedTensor> tensors) {
  void* begin = nullptr;
  const std::byte* next = nullptr;
  for (const std::size_t index : bucket.tensors) {
    const FusedTensor& tensor = tensors[index];
    if (tensor.count == 0) continue;
    if (begin == nullptr)
      begin = tensor.data;
    else if (tensor.data != next)
      return nullptr;
    next = static_cast<const std::byte*>(tensor.data) + tensor.count * sizeOf(tensor.type);
  }
  return begin;
}

}  // namespace popdist::async
