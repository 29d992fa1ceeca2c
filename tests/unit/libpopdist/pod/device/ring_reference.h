// SPDX-License-Identifier: Apache-2.0
// The sum over replicas in GCL's documented order, written down without plans, messages or instances: element
// by element, one addition after the other.
#pragma once

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

/// The one of `blocks` even blocks (the longer ones first) that holds element `index` of `count`, and its
/// index in there.
struct BlockPlace {
  std::size_t block = 0;
  std::size_t index = 0;
  std::size_t count = 0;  ///< that block's elements
};
inline BlockPlace blockOf(std::size_t index, std::size_t count, std::size_t blocks) {
  for (std::size_t block = 0;; ++block) {
    const std::size_t size = count / blocks + (block < count % blocks ? 1 : 0);
    if (index < size) return {block, index, size};
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
/// numbers: first in the ring of each Pod, then over the Pods, each block of a Pod's ring cut into a block
/// for every Pod.
template <typename T>
T referenceSum(const std::vector<std::vector<T>>& tensors, std::size_t index, std::size_t pods) {
  const std::size_t per_pod = tensors.size() / pods;
  const BlockPlace place = blockOf(index, tensors.front().size(), per_pod);
  std::vector<T> of_pods;
  for (std::size_t pod = 0; pod < pods; ++pod) {
    std::vector<T> terms;
    for (const std::size_t replica : interleaved(per_pod))
      terms.push_back(tensors[pod * per_pod + replica][index]);
    of_pods.push_back(ringSum(terms, place.block));
  }
  return ringSum(of_pods, blockOf(place.index, place.count, pods).block);
}

}  // namespace popdist
