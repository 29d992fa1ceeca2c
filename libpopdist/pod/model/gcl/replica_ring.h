// SPDX-License-Identifier: Apache-2.0
// The ring of the replicas of one IPU-Link domain: GCL's Interleaved order, up the even replicas and down the
// odd ones. On a ladder with one IPU per replica, and an even number of them, every neighbour is then one
// link away; with larger replicas a hop passes over a replica, yet the two columns never carry more than one
// replica's message in a direction.
#pragma once

#include <vector>

namespace popdist::pod::gcl {

/// 0, 2, 4, ... 5, 3, 1: the replica at each position of the ring.
std::vector<int> replicaRing(int replicas);

/// The position of `replica` in replicaRing(replicas).
constexpr int ringPosition(int replicas, int replica) {
  return replica % 2 == 0 ? replica / 2 : replicas - 1 - replica / 2;
}

}  // namespace popdist::pod::gcl
