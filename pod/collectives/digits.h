// SPDX-License-Identifier: Apache-2.0
// Replicas as numbers of several digits: their place in a group, and the groups. A collective of groups works
// along some digits, with all others in parallel; one over several digits cuts each digit's block for the
// next.
//
//   128 replicas on two ILDs            digits 64 x 1 and 2 x 64 (size x stride)
//   groups of 4 consecutive of these    digits 4 x 1, 16 x 4, 2 x 64
#pragma once

#include <vector>

#include "pod/collectives/replica_group.h"
#include "pod/collectives/replica_order.h"
#include "pod/system/replica_layout.h"

namespace pop::pod {

struct Digit {
  int size = 1;    ///< replicas that differ in this digit alone
  int stride = 1;  ///< between two whose digits follow each other
  RingOrder order = RingOrder::kFlat;

  int of(int replica) const { return replica / stride % size; }
  /// The replica that has this digit instead.
  int with(int replica, int digit) const { return replica + (digit - of(replica)) * stride; }

  friend bool operator==(const Digit&, const Digit&) = default;
};

/// Digits of a collective: first those within each group, then those between groups. Those of size 1 are left
/// out.
struct Digits {
  std::vector<Digit> inside;
  std::vector<Digit> between;
};

/// A group within an IPU-Link domain is a ring of it; one that takes equally many of each of its domains is a
/// ring in each and one across; others are a ring in order. `group` must be valid.
Digits digitsOf(const ReplicaLayout& layout, ReplicaGroup group);

}  // namespace pop::pod
