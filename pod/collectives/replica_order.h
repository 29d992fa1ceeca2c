// SPDX-License-Identifier: Apache-2.0
// Orders of replicas round a ring, GCL's three (poplibs, lib/popops/ReplicatedCollectives.cpp, January 2021).
#pragma once

#include <cstdint>
#include <vector>

namespace pop::pod {

enum class RingOrder : std::uint8_t {
  kInterleaved,  ///< 0, 2, 4, ... 5, 3, 1: up one column of a ladder and down the other
  kFlat,         ///< 0, 1, 2, ...: needs the loop-back cables of a torus
  kSerpent,      ///< 0, 1, 3, 2, 4, 5, 7, 6, ...: of a barley twist
  kMirrored,     ///< the serpent's other way through each square: 1, 0, 2, 3, 5, 4, ...
};

/// The replica at each position of a ring of so many.
std::vector<int> replicaOrder(RingOrder order, int replicas);

}  // namespace pop::pod
