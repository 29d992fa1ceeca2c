// SPDX-License-Identifier: Apache-2.0
// The sum over replicas in GCL's documented order, written down without plans, messages or instances: element
// by element, one addition after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "popdist/types.hpp"

namespace popdist {

template <typename T>
T added(T a, T b) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) {
    return T(static_cast<float>(a) + static_cast<float>(b));
  } else {
    return static_cast<T>(a + b);
  }
}

/// The one of `blocks` even blocks (the longer ones first) that holds element `index` of `count`.
inline std::size_t blockOf(std::size_t index, std::size_t count, std::size_t blocks) {
  for (std::size_t block = 0;; ++block) {
    const std::size_t size = count / blocks + (block < count % blocks ? 1 : 0);
    if (index < size) return block;
    index -= size;
  }
}

/// The terms of a ring, by position: the sum starts after `last` and takes it last.
template <typename T>
T ringSum(const std::vector<T>& terms, std::size_t last) {
  T sum = terms[(last + 1) % terms.size()];
  for (std::size_t step = 2; step <= terms.size(); ++step)
    sum = added(sum, terms[(last + step) % terms.size()]);
  return sum;
}

/// Up the even replicas and down the odd ones: 0, 2, 4, … 5, 3, 1.
inline std::vector<std::size_t> interleaved(std::size_t replicas) {
  std::vector<std::size_t> ring;
  for (std::size_t replica = 0; replica < replicas; replica += 2) ring.push_back(replica);
  for (std::size_t replica = replicas; replica-- > 0;) {
    if (replica % 2 == 1) ring.push_back(replica);
  }
  return ring;
}

/// Element `index` of the sum over `tensors`, one for each replica, which lie on `pods` Pods in equal
/// numbers: first in the ring of each Pod, then over the Pods. There is a block for each replica of a Pod,
/// cut into one for every Pod: the sums of its elements end there.
template <typename T>
T referenceSum(const std::vector<std::vector<T>>& tensors, std::size_t index, std::size_t pods) {
  const std::size_t per_pod = tensors.size() / pods;
  const std::size_t block = blockOf(index, tensors.front().size(), tensors.size());
  const std::vector<std::size_t> ring = interleaved(per_pod);
  const auto last = std::find(ring.begin(), ring.end(), block / pods) - ring.begin();
  std::vector<T> of_pods;
  for (std::size_t pod = 0; pod < pods; ++pod) {
    std::vector<T> terms;
    for (const std::size_t replica : ring) terms.push_back(tensors[pod * per_pod + replica][index]);
    of_pods.push_back(ringSum(terms, static_cast<std::size_t>(last)));
  }
  return ringSum(of_pods, block % pods);
}

}  // namespace popdist
