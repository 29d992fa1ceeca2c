// SPDX-License-Identifier: Apache-2.0
// The plans of all replicas are carried out in lockstep on plain vectors; unsigned sums are exact in any
// order.
#include "libpopdist/pod/model/gcl/all_reduce.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "tests/testing/plan_simulator.h"

namespace popdist::pod::gcl {
namespace {

using Vector = std::vector<std::uint64_t>;  // unsigned: sums are exact in any order

ReplicaLayout layoutOn(const char* pod, int replicas, int ipus_per_replica = 1) {
  return {podSpecByName(pod).value(), replicas, ipus_per_replica};
}

void expectExactSums(const ReplicaLayout& layout, std::size_t count) {
  SCOPED_TRACE(std::to_string(layout.replicas) + " replicas on " + layout.spec.name + ", " +
               std::to_string(count) + " elements");
  pop::SplitMix64 random(count);
  std::vector<plan::SimulatedRank<std::uint64_t>> ranks(static_cast<std::size_t>(layout.replicas));
  Vector sum(count, 0);
  for (std::size_t replica = 0; replica < ranks.size(); ++replica) {
    ranks[replica].plan = planDeviceAllReduce(layout, static_cast<int>(replica), count);
    for (std::uint64_t& total : sum) total += ranks[replica].output.emplace_back(random.next());
  }
  ASSERT_EQ(plan::simulate(ranks), "");
  for (const auto& rank : ranks) ASSERT_EQ(rank.output, sum);
}

TEST(DeviceAllReduce, EveryReplicaOfAPodEndsWithTheSum) {
  for (const int replicas : {1, 2, 3, 4, 5, 8, 16}) {
    for (const std::size_t count : {0u, 1u, 2u, 7u, 16u, 97u})
      expectExactSums(layoutOn("pod16", replicas), count);
  }
}

TEST(DeviceAllReduce, EveryReplicaOfTwoPodsEndsWithTheSum) {
  for (const std::size_t count : {0u, 1u, 65u, 128u, 331u}) expectExactSums(layoutOn("pod128", 128), count);
}

TEST(DeviceAllReduce, EveryReplicaOfFourPodsEndsWithTheSum) {
  expectExactSums(layoutOn("pod256", 256), 1001);
}

TEST(DeviceAllReduce, LargeReplicasInSeveralPodsEndWithTheSum) {
  expectExactSums(layoutOn("pod128", 16, 8), 333);
  expectExactSums(layoutOn("pod256", 4, 64), 13);
  expectExactSums(layoutOn("pod256", 24, 8), 77);
}

TEST(DeviceAllReduce, TakesARingInsideEachPodAndOneAcrossPods) {
  const plan::Plan one_pod = planDeviceAllReduce(layoutOn("pod16", 16), 3, 1000);
  EXPECT_EQ(one_pod.steps.back().round + 1, 2u * 15);
  const plan::Plan four_pods = planDeviceAllReduce(layoutOn("pod256", 256), 200, 1000);
  EXPECT_EQ(four_pods.steps.back().round + 1, 2u * 63 + 2u * 3);
  EXPECT_EQ(four_pods.steps.size(), 2 * (2u * 63 + 2u * 3));
}

TEST(DeviceAllReduce, OnlySamePlacesTalkAcrossPods) {
  const ReplicaLayout layout = layoutOn("pod128", 128);
  for (int replica = 0; replica < layout.replicas; replica += 5) {
    for (const plan::Step& step : planDeviceAllReduce(layout, replica, 999).steps) {
      if (step.peer / 64 != replica / 64) {
        EXPECT_EQ(step.peer % 64, replica % 64);
      }
    }
  }
}

TEST(DeviceAllReduce, ThePlanDependsOnThePlacesOfReplicasOnly) {
  const ReplicaLayout layout = layoutOn("pod128", 128);
  ReplicaLayout faster = layoutOn("bow-pod128", 128);
  faster.spec.links.gw_link_bytes_per_s *= 8;
  faster.spec.step_cost = Picoseconds(0);
  for (const int replica : {0, 63, 64, 127}) {
    EXPECT_EQ(planDeviceAllReduce(layout, replica, 5000).steps,
              planDeviceAllReduce(faster, replica, 5000).steps);
  }
}

TEST(DeviceAllReduce, ReplicasOfOnePodSumInTheSameOrderOnAnyPodSize) {
  for (int replica = 0; replica < 4; ++replica) {
    EXPECT_EQ(planDeviceAllReduce(layoutOn("pod4", 4), replica, 100).steps,
              planDeviceAllReduce(layoutOn("pod256", 4), replica, 100).steps);
  }
}

TEST(DeviceAllReduceDeathTest, RefusesALayoutThatDoesNotFit) {
  EXPECT_DEATH(planDeviceAllReduce(layoutOn("pod4", 5), 0, 10), "internal error");
}

}  // namespace
}  // namespace popdist::pod::gcl
