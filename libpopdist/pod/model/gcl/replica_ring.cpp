// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/model/gcl/replica_ring.h"

namespace popdist::pod::gcl {

std::vector<int> replicaRing(int replicas) {
  std::vector<int> ring(static_cast<std::size_t>(replicas));
  for (int replica = 0; replica < replicas; ++replica) {
    ring[static_cast<std::size_t>(ringPosition(replicas, replica))] = replica;
  }
  return ring;
}

}  // namespace popdist::pod::gcl
