// SPDX-License-Identifier: Apache-2.0
#include "pod/collectives/replica_order.h"

namespace pop::pod {
namespace {

int interleaved(int position, int replicas) {
  const int up = (replicas + 1) / 2;
  return position < up ? 2 * position : 2 * (replicas - 1 - position) + 1;
}

// An odd last replica has no partner to change places with.
int serpent(int position, int replicas, int mirror) {
  const int at = position ^ ((position >> 1) & 1) ^ mirror;
  return at < replicas ? at : position;
}

}  // namespace

std::vector<int> replicaOrder(RingOrder order, int replicas) {
  std::vector<int> ring(static_cast<std::size_t>(replicas));
  for (int position = 0; position < replicas; ++position) {
    int& replica = ring[static_cast<std::size_t>(position)];
    switch (order) {
      case RingOrder::kInterleaved:
        replica = interleaved(position, replicas);
        break;
      case RingOrder::kFlat:
        replica = position;
        break;
      case RingOrder::kSerpent:
        replica = serpent(position, replicas, 0);
        break;
      case RingOrder::kMirrored:
        replica = serpent(position, replicas, 1);
        break;
    }
  }
  return ring;
}

}  // namespace pop::pod
