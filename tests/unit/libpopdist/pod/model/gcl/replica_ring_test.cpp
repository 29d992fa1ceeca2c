// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/model/gcl/replica_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace popdist::pod::gcl {
namespace {

using ::testing::ElementsAre;

TEST(ReplicaRing, GoesUpTheEvenAndDownTheOddReplicas) {
  EXPECT_THAT(replicaRing(1), ElementsAre(0));
  EXPECT_THAT(replicaRing(2), ElementsAre(0, 1));
  EXPECT_THAT(replicaRing(3), ElementsAre(0, 2, 1));
  EXPECT_THAT(replicaRing(5), ElementsAre(0, 2, 4, 3, 1));
  EXPECT_THAT(replicaRing(8), ElementsAre(0, 2, 4, 6, 7, 5, 3, 1));
}

TEST(ReplicaRing, PositionIsTheInverse) {
  for (int replicas = 1; replicas <= 64; ++replicas) {
    const std::vector<int> ring = replicaRing(replicas);
    for (int position = 0; position < replicas; ++position) {
      EXPECT_EQ(ringPosition(replicas, ring[static_cast<std::size_t>(position)]), position);
    }
  }
}

}  // namespace
}  // namespace popdist::pod::gcl
