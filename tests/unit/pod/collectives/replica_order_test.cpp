// SPDX-License-Identifier: Apache-2.0
#include "pod/collectives/replica_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "pod/system/routes.h"

namespace pop::pod {
namespace {

using ::testing::ElementsAre;

TEST(ReplicaOrder, InterleavedGoesUpTheEvenAndDownTheOddReplicas) {
  EXPECT_THAT(replicaOrder(RingOrder::kInterleaved, 1), ElementsAre(0));
  EXPECT_THAT(replicaOrder(RingOrder::kInterleaved, 2), ElementsAre(0, 1));
  EXPECT_THAT(replicaOrder(RingOrder::kInterleaved, 3), ElementsAre(0, 2, 1));
  EXPECT_THAT(replicaOrder(RingOrder::kInterleaved, 5), ElementsAre(0, 2, 4, 3, 1));
  EXPECT_THAT(replicaOrder(RingOrder::kInterleaved, 8), ElementsAre(0, 2, 4, 6, 7, 5, 3, 1));
}

TEST(ReplicaOrder, OthersAreGclsToo) {
  EXPECT_THAT(replicaOrder(RingOrder::kFlat, 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(replicaOrder(RingOrder::kSerpent, 8), ElementsAre(0, 1, 3, 2, 4, 5, 7, 6));
  EXPECT_THAT(replicaOrder(RingOrder::kMirrored, 8), ElementsAre(1, 0, 2, 3, 5, 4, 6, 7));
}

TEST(ReplicaOrder, HasEachReplicaOnce) {
  for (const RingOrder order :
       {RingOrder::kInterleaved, RingOrder::kFlat, RingOrder::kSerpent, RingOrder::kMirrored}) {
    for (int replicas = 1; replicas <= 65; ++replicas) {
      std::vector<int> ring = replicaOrder(order, replicas);
      std::ranges::sort(ring);
      for (int replica = 0; replica < replicas; ++replica)
        ASSERT_EQ(ring[static_cast<std::size_t>(replica)], replica) << replicas;
    }
  }
}

TEST(ReplicaOrder, TheSerpentsOfABarleyTwistGoFromNeighbourToNeighbour) {
  const Topology twist(podSpecByName("pod64-twist").value());
  for (const RingOrder order : {RingOrder::kSerpent, RingOrder::kMirrored}) {
    const std::vector<int> ring = replicaOrder(order, 64);
    for (std::size_t at = 0; at < ring.size(); ++at)
      EXPECT_EQ(route(twist, ring[at], ring[(at + 1) % ring.size()]).size(), 1U) << ring[at];
  }
}

}  // namespace
}  // namespace pop::pod
