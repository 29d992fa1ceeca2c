// SPDX-License-Identifier: Apache-2.0
#include "pod/clock/waiting_circle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pod/collectives/exchange.h"
#include "pod/collectives/gcl.h"
#include "pod/system/system_text.h"

namespace pop::pod {
namespace {

using ::testing::ElementsAre;

ReplicaLayout layoutOfCircle(const char* pod, int replicas, int ipus_per_replica) {
  return {podSpecByName(pod).value(), replicas, ipus_per_replica};
}

std::optional<WaitingCircle> circleOf(const ReplicaLayout& layout, const Schedule& schedule) {
  return waitingCircle(Topology(layout.spec), layout, schedule);
}

// Copies that go two rows up wait all round the loop: why GCL sends for one IPU of a replica at a time there.
TEST(WaitingCircle, IsThatOfLargeReplicasRoundATorus) {
  const ReplicaLayout torus = layoutOfCircle("pod64-torus", 16, 4);
  const auto circle = circleOf(torus, gclAllReduce(torus, 16));
  ASSERT_TRUE(circle.has_value());
  EXPECT_EQ(circle->round, 0);
  EXPECT_EQ(circle->nodes.size(), 32U);
  EXPECT_EQ(circle->nodes[0], 0);
  EXPECT_EQ(circle->nodes[1], 2);
  EXPECT_EQ(circle->nodes[31], 62);
}

TEST(WaitingCircle, IsNoneWhereCopiesTakeOneLink) {
  const ReplicaLayout torus = layoutOfCircle("pod64-torus", 32, 2);
  EXPECT_FALSE(circleOf(torus, gclAllReduce(torus, 32)).has_value());
  const ReplicaLayout one = layoutOfCircle("pod64-torus", 64, 1);
  EXPECT_FALSE(circleOf(one, gclAllReduce(one, 64)).has_value());
}

// Rungs first, then rails: no way turns back.
TEST(WaitingCircle, IsNoneOnALadder) {
  for (const int ipus : {1, 2, 4, 8}) {
    const ReplicaLayout ladder = layoutOfCircle("pod64", 64 / ipus, ipus);
    EXPECT_FALSE(circleOf(ladder, gclAllReduce(ladder, 64 / ipus)).has_value());
    EXPECT_FALSE(circleOf(ladder, allToAll(64 / ipus, 64 / ipus, true)).has_value());
  }
}

TEST(WaitingCircle, IsFoundInAWiringOfOnesOwn) {
  const PodSpec ring = systemFromText(
                           "system ring; nodes 5; link ipu0 ipu1 10 GB/s; link ipu1 ipu2 10 GB/s;"
                           "link ipu2 ipu3 10 GB/s; link ipu3 ipu4 10 GB/s; link ipu4 ipu0 10 GB/s",
                           "ring")
                           .value();
  const ReplicaLayout layout{ring, 5, 1};
  const auto toTheOneFurther = [](int hops) {
    return Schedule{
        .replicas = 5, .blocks = 1, .phases = {{"further", 1, {{0, 1}}, [hops](int, const Take& take) {
                                                  for (int replica = 0; replica < 5; ++replica)
                                                    take({replica, (replica + hops) % 5, 0, 1, false});
                                                }}}};
  };
  EXPECT_FALSE(circleOf(layout, toTheOneFurther(1)).has_value());
  const auto circle = circleOf(layout, toTheOneFurther(2));
  ASSERT_TRUE(circle.has_value());
  EXPECT_THAT(circle->nodes, ElementsAre(0, 1, 2, 3, 4));
}

}  // namespace
}  // namespace pop::pod
