// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/model/bounds.h"

#include <gtest/gtest.h>

#include <vector>

#include "libpopdist/pod/model/clock.h"
#include "libpopdist/pod/model/gcl/all_reduce.h"

namespace popdist::pod {
namespace {

constexpr std::size_t kFloatBytes = 4;

ReplicaLayout layoutOn(const char* pod, int replicas, int ipus_per_replica = 1) {
  return {podSpecByName(pod).value(), replicas, ipus_per_replica};
}

Picoseconds allReduceTime(const ReplicaLayout& layout, std::size_t count) {
  std::vector<plan::Plan> plans;
  for (int replica = 0; replica < layout.replicas; ++replica) {
    plans.push_back(gcl::planDeviceAllReduce(layout, replica, count));
  }
  return simulate(layout, plans, kFloatBytes).total;
}

TEST(LowerBound, HoldsForEverySimulatedTime) {
  const ReplicaLayout layouts[] = {
      layoutOn("pod4", 2),       layoutOn("pod4", 3),       layoutOn("pod16", 5),
      layoutOn("pod16", 16),     layoutOn("pod64", 64),     layoutOn("pod16", 2, 8),
      layoutOn("pod128", 2, 64), layoutOn("pod128", 32, 4), layoutOn("pod256", 24, 8)};
  for (ReplicaLayout layout : layouts) {
    layout.spec.step_cost = Picoseconds(0);
    layout.spec.sync_hop_latency = Picoseconds(0);
    for (const std::size_t count : {1u, 1000u, 10'000'000u}) {
      EXPECT_GE(allReduceTime(layout, count), allReduceLowerBound(layout, count * kFloatBytes))
          << layout.replicas << " replicas on " << layout.spec.name << ", " << count;
    }
  }
}

TEST(LowerBound, OfAFullLadderIsHalfTheVectorOverARail) {
  // (2n-1) / (2(n-1) + kn) with k = 2 rails a rung is 1/2; with cross-routed rungs, the cut through the rails
  // is what binds.
  for (const auto& layout : {layoutOn("pod16", 16), layoutOn("pod64", 64)}) {
    EXPECT_EQ(allReduceLowerBound(layout, 1'000'000),
              transferTime(500'000, layout.spec.links.rail_bytes_per_s));
  }
}

TEST(LowerBound, OfALadderWithWeakRungsIsTheSumOfAllLinks) {
  ReplicaLayout layout = layoutOn("pod64", 64);
  layout.spec.links.rung_bytes_per_s = layout.spec.links.rail_bytes_per_s;
  layout.spec.links.cross_rung_bytes_per_s = 0;
  const double fraction = allReduceLowerBound(layout, 1'000'000'000) / std::chrono::duration<double>(1) *
                          static_cast<double>(layout.spec.links.rail_bytes_per_s) / 1e9;
  EXPECT_NEAR(fraction, 63.0 / 94, 1e-9);
}

TEST(LowerBound, OfTwoReplicasIsReachedByTheRing) {
  ReplicaLayout layout = layoutOn("pod4", 2);
  layout.spec.step_cost = layout.spec.sync_hop_latency = Picoseconds(0);
  EXPECT_LE(allReduceTime(layout, 1'000'000) - allReduceLowerBound(layout, 4'000'000), Picoseconds(2));
}

TEST(LowerBound, OfWholePodsIsWhatTheGwLinksCarry) {
  EXPECT_EQ(allReduceLowerBound(layoutOn("pod128", 2, 64), 16 * 12'500), std::chrono::microseconds(1));
  EXPECT_EQ(allReduceLowerBound(layoutOn("pod256", 4, 64), 64 * 12'500), std::chrono::microseconds(3));
  EXPECT_EQ(allReduceLowerBound(layoutOn("pod16", 1), 1'000'000), Picoseconds(0));
}

TEST(AllReduceEstimate, IsTheTensorTwiceAndAPartOfItBetweenPods) {
  const ReplicaLayout one = layoutOn("pod16", 16);
  const auto rail = one.spec.links.rail_bytes_per_s;
  EXPECT_EQ(allReduceEstimate(one, 1'600'000), 2 * transferTime(1'600'000, rail));
  EXPECT_EQ(allReduceEstimate(layoutOn("pod16", 4, 4), 1'600'000), 2 * transferTime(400'000, rail));
  const ReplicaLayout two = layoutOn("pod128", 128);
  EXPECT_EQ(allReduceEstimate(two, 12'800'000),
            2 * transferTime(12'800'000, rail) + transferTime(100'000, two.spec.links.gw_link_bytes_per_s));
  EXPECT_EQ(allReduceEstimate(layoutOn("pod16", 1), 1'600'000), Picoseconds(0));
}

// The cost of rounds is small beside a tensor that is long enough.
TEST(AllReduceEstimate, IsWhatTheClockComesTo) {
  const ReplicaLayout layout = layoutOn("pod16", 16);
  constexpr std::size_t kCount = 256 << 20;
  const double estimate =
      std::chrono::duration<double>(allReduceEstimate(layout, kCount * kFloatBytes)).count();
  const double clock = std::chrono::duration<double>(allReduceTime(layout, kCount)).count();
  EXPECT_NEAR(clock / estimate, 15.0 / 16, 0.01);
}

}  // namespace
}  // namespace popdist::pod
