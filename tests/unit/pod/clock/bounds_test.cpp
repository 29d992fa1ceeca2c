// SPDX-License-Identifier: Apache-2.0
#include "pod/clock/bounds.h"

#include <gtest/gtest.h>

#include <vector>

#include "pod/clock/clock.h"
#include "pod/collectives/gcl.h"

namespace pop::pod {
namespace {

constexpr std::size_t kFloatBytes = 4;

ReplicaLayout layoutOn(const char* pod, int replicas, int ipus_per_replica = 1) {
  return {podSpecByName(pod).value(), replicas, ipus_per_replica};
}

Picoseconds allReduceTime(const ReplicaLayout& layout, std::size_t count, GclMethods methods = {}) {
  return simulate(Topology(layout.spec), layout, gclAllReduce(layout, layout.replicas, methods), count,
                  kFloatBytes)
      .total;
}

Picoseconds lowerBound(const ReplicaLayout& layout, std::uint64_t bytes) {
  return allReduceLowerBound(Topology(layout.spec), layout, bytes);
}

double inPartsOf(Picoseconds time, std::uint64_t bytes, std::uint64_t bytes_per_s) {
  return std::chrono::duration<double>(time).count() * static_cast<double>(bytes_per_s) /
         static_cast<double>(bytes);
}

TEST(LowerBound, HoldsForTimesThatCannotBeCounted) {
  ReplicaLayout slow = layoutOn("pod16", 16);
  slow.spec.links.rail_bytes_per_s = slow.spec.links.rung_bytes_per_s = 1;
  slow.spec.links.cross_rung_bytes_per_s = 1;
  for (const ReplicaLayout& layout : {slow, layoutOn("pod128", 128)}) {
    const Topology topology(layout.spec);
    for (const std::size_t count :
         {1'000'000UL, 250'000'000'000'000UL, std::size_t{1} << 60, ~std::size_t{0}}) {
      for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                        CollectiveKind::kAllToAll, CollectiveKind::kBroadcast}) {
        const Collective collective{.kind = kind, .group = layout.replicas, .count = count};
        const Picoseconds bound = pod::lowerBound(topology, layout, collective);
        const Picoseconds time =
            simulate(topology, layout, gclSchedule(layout, collective, {}), count, kFloatBytes).total;
        EXPECT_GT(bound, Picoseconds(0)) << nameOf(kind) << ", " << count;
        EXPECT_LE(bound, time) << nameOf(kind) << ", " << count;
        EXPECT_LE(time, kLongestTime) << nameOf(kind) << ", " << count;
      }
    }
    EXPECT_EQ(allReduceEstimate(layout, ~std::uint64_t{0}), kLongestTime);
  }
}

TEST(LowerBound, HoldsForEverySimulatedTime) {
  const ReplicaLayout layouts[] = {
      layoutOn("pod4", 2),         layoutOn("pod4", 3),         layoutOn("pod16", 5),
      layoutOn("pod16", 16),       layoutOn("pod64", 64),       layoutOn("pod16", 2, 8),
      layoutOn("pod128", 2, 64),   layoutOn("pod128", 32, 4),   layoutOn("pod256", 24, 8),
      layoutOn("mk1-64", 64),      layoutOn("pod64-torus", 64), layoutOn("pod64-torus", 16, 4),
      layoutOn("pod64-twist", 64), layoutOn("pod64-twist", 13)};
  for (ReplicaLayout layout : layouts) {
    layout.spec.step_cost = Picoseconds(0);
    layout.spec.sync_hop_latency = Picoseconds(0);
    for (const RingMethod method : {RingMethod::kClockwise, RingMethod::kBidirectionalPair,
                                    RingMethod::kMeetInTheMiddle, RingMethod::kQuadDirectional}) {
      for (const std::size_t count : {1u, 1000u, 10'000'000u}) {
        EXPECT_GE(allReduceTime(layout, count, {method, method}), lowerBound(layout, count * kFloatBytes))
            << layout.replicas << " replicas on " << layout.spec.name << ", " << count << ", "
            << nameOf(method);
        const Schedule gather = gclAllGather(layout, layout.replicas, {method, method});
        EXPECT_GE(simulate(Topology(layout.spec), layout, gather, count, kFloatBytes).total,
                  gatherLowerBound(Topology(layout.spec), layout, count * kFloatBytes))
            << layout.replicas << " replicas on " << layout.spec.name << ", " << count << ", "
            << nameOf(method);
      }
    }
  }
}

TEST(LowerBound, OfAFullLadderIsHalfTheVectorOverARail) {
  // (2n-1) / (2(n-1) + kn) with rungs of k = 2 rails is 1/2 for large n, as the cut through the rails.
  for (const auto& layout : {layoutOn("pod16", 16), layoutOn("pod64", 64)})
    EXPECT_NEAR(inPartsOf(lowerBound(layout, 1'000'000), 1'000'000, layout.spec.links.rail_bytes_per_s), 0.5,
                1e-6);
}

TEST(LowerBound, OfALadderWithWeakRungsIsTheSumOfAllLinks) {
  ReplicaLayout layout = layoutOn("pod64", 64);
  layout.spec.links.rung_bytes_per_s = layout.spec.links.rail_bytes_per_s;
  EXPECT_NEAR(inPartsOf(lowerBound(layout, 1'000'000'000), 1'000'000'000, layout.spec.links.rail_bytes_per_s),
              63.0 / 94, 1e-9);
}

TEST(LowerBound, OfATorusAndATwistIsTheSumOfAllLinks) {
  const auto of = [](const char* pod, std::uint64_t rung_in_rails) {
    ReplicaLayout layout = layoutOn(pod, 64);
    const std::uint64_t rail = layout.spec.links.rail_bytes_per_s;
    layout.spec.links.rung_bytes_per_s = rung_in_rails * rail;
    return inPartsOf(lowerBound(layout, 1'000'000'000), 1'000'000'000, rail);
  };
  EXPECT_NEAR(of("pod64-torus", 1), 63.0 / 96, 1e-9);
  EXPECT_NEAR(of("pod64-torus", 2), 63.0 / 128, 1e-9);
  EXPECT_NEAR(of("pod64-twist", 1), 63.0 / 128, 1e-9);
}

// The corner of a ladder has one rail and one rung; a torus has no corner.
TEST(LowerBound, OfAnAllGatherIsTheWayIntoTheWorstPlace) {
  const auto of = [](const char* pod) {
    ReplicaLayout layout = layoutOn(pod, 64);
    const std::uint64_t rail = layout.spec.links.rail_bytes_per_s;
    layout.spec.links.rung_bytes_per_s = rail;
    layout.spec.links.cross_rung_bytes_per_s = 0;
    return inPartsOf(gatherLowerBound(Topology(layout.spec), layout, 1'000'000'000), 1'000'000'000, rail);
  };
  EXPECT_NEAR(of("pod64"), 63.0 / 64 / 2, 1e-9);
  EXPECT_NEAR(of("pod64-torus"), 63.0 / 64 / 3, 1e-9);
}

TEST(LowerBound, OfTwoReplicasIsReachedByTheRing) {
  ReplicaLayout layout = layoutOn("pod4", 2);
  layout.spec.step_cost = layout.spec.sync_hop_latency = Picoseconds(0);
  EXPECT_LE(allReduceTime(layout, 1'000'000) - lowerBound(layout, 4'000'000), Picoseconds(2));
}

TEST(LowerBound, OfWholePodsIsWhatTheGwLinksCarry) {
  EXPECT_EQ(lowerBound(layoutOn("pod128", 2, 64), 2 * 16 * 12'500), std::chrono::microseconds(1));
  EXPECT_EQ(lowerBound(layoutOn("pod256", 4, 64), 64 * 12'500), std::chrono::microseconds(3));
  EXPECT_EQ(lowerBound(layoutOn("pod16", 1), 1'000'000), Picoseconds(0));
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
}  // namespace pop::pod
