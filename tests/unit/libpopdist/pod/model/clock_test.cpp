// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/model/clock.h"

#include <gtest/gtest.h>

#include <vector>

#include "libpopdist/pod/model/gcl/all_reduce.h"

namespace popdist::pod {
namespace {

constexpr std::size_t kElementBytes = 4;

ReplicaLayout clockedLayout(const char* pod, int replicas, int ipus_per_replica = 1) {
  return {podSpecByName(pod).value(), replicas, ipus_per_replica};
}

CollectiveTime clockedTime(const ReplicaLayout& layout, std::size_t count) {
  std::vector<plan::Plan> plans;
  for (int replica = 0; replica < layout.replicas; ++replica) {
    plans.push_back(gcl::planDeviceAllReduce(layout, replica, count));
  }
  return simulate(layout, plans, kElementBytes);
}

plan::Step sendTo(int peer, std::uint32_t round, std::size_t count) {
  return {.kind = plan::StepKind::kSend, .round = round, .peer = peer, .from = {}, .to = {}, .count = count};
}

TEST(Clock, NothingToDoTakesNoTime) {
  EXPECT_EQ(clockedTime(clockedLayout("pod16", 1), 1000), CollectiveTime{});
  EXPECT_EQ(clockedTime(clockedLayout("pod16", 16), 0), CollectiveTime{});
}

TEST(Clock, TwoReplicasExchangeHalvesOverTheirRung) {
  const ReplicaLayout layout = clockedLayout("pod4", 2);
  constexpr std::size_t kCount = 1'000'000;
  // 2 MB at 58.411555225 GB/s: 34,239,800.9 ps, twice; 10 us of software and 2 x 15 ns of sync, twice.
  const CollectiveTime time = clockedTime(layout, kCount);
  EXPECT_EQ(time.total, 2 * (Picoseconds(34'239'801) + Picoseconds(10'030'000)));
  EXPECT_EQ(time.rounds, 2);
  EXPECT_EQ(time.bytes_on_busiest_link, kCount * kElementBytes);
}

TEST(Clock, ARingOnAPod16TakesThirtyRoundsOfASixteenthOverTheRails) {
  const ReplicaLayout layout = clockedLayout("pod16", 16);
  constexpr std::size_t kCount = 16 * 65536;
  const CollectiveTime time = clockedTime(layout, kCount);
  const Picoseconds block = transferTime(65536 * kElementBytes, layout.spec.links.rail_bytes_per_s);
  EXPECT_EQ(time.rounds, 2 * 15);
  EXPECT_EQ(time.total, 2 * 15 * (block + roundCost(layout)));
  EXPECT_EQ(time.bytes_on_busiest_link, 2 * 15 * 65536 * kElementBytes);
}

TEST(Clock, AcrossTwoPodsFourIpusShareAGwLink) {
  const ReplicaLayout layout = clockedLayout("pod128", 128);
  constexpr std::size_t kCount = 128 * 1024;
  const Picoseconds inside = transferTime(kCount / 64 * kElementBytes, layout.spec.links.rail_bytes_per_s);
  const Picoseconds across =
      transferTime(4 * kCount / 128 * kElementBytes, layout.spec.links.gw_link_bytes_per_s);
  const CollectiveTime time = clockedTime(layout, kCount);
  EXPECT_EQ(time.rounds, 2 * 63 + 2);
  EXPECT_EQ(time.total, 2 * 63 * inside + 2 * across + time.rounds * roundCost(layout));
}

TEST(Clock, EachIpuOfAReplicaCarriesItsShare) {
  // Replicas of four IPUs, two rows apart: a rail carries the shares of the two rows of its column.
  const ReplicaLayout layout = clockedLayout("pod16", 2, 4);
  const CollectiveTime time = clockedTime(layout, 8000);
  const Picoseconds half = transferTime(2 * 1000 * kElementBytes, layout.spec.links.rail_bytes_per_s);
  EXPECT_EQ(time.total, 2 * (half + roundCost(layout)));
}

TEST(Clock, LoadsOfARoundAddUpOnASharedLink) {
  // 0 -> 4 and 2 -> 4 share the rail from IPU 2 to IPU 4.
  const ReplicaLayout layout = clockedLayout("pod16", 5);
  std::vector<plan::Plan> plans(5);
  plans[0].steps = {sendTo(4, 0, 100)};
  plans[2].steps = {sendTo(4, 0, 300)};
  const CollectiveTime together = simulate(layout, plans, kElementBytes);
  EXPECT_EQ(together.total, transferTime(1600, layout.spec.links.rail_bytes_per_s) + roundCost(layout));
  EXPECT_EQ(together.bytes_on_busiest_link, 1600u);

  plans[2].steps = {sendTo(4, 1, 300)};
  const CollectiveTime apart = simulate(layout, plans, kElementBytes);
  EXPECT_EQ(apart.rounds, 2);
  EXPECT_EQ(apart.bytes_on_busiest_link, 1600u);
}

TEST(Clock, RoundsWithoutDataAreFree) {
  const ReplicaLayout layout = clockedLayout("pod4", 2);
  std::vector<plan::Plan> plans(2);
  plans[0].steps = {sendTo(1, 0, 0), sendTo(1, 7, 50)};
  EXPECT_EQ(simulate(layout, plans, kElementBytes).rounds, 1);
}

TEST(Clock, MoreBytesNeverTakeLess) {
  for (const auto& layout :
       {clockedLayout("pod16", 5), clockedLayout("pod16", 16), clockedLayout("pod256", 32, 8)}) {
    Picoseconds before{0};
    for (const std::size_t count : {0u, 1u, 3u, 16u, 17u, 1000u, 1001u, 100'000u}) {
      const Picoseconds now = clockedTime(layout, count).total;
      EXPECT_GE(now, before) << layout.replicas << " replicas, " << count;
      before = now;
    }
  }
}

TEST(RoundCost, IsSoftwarePlusASyncThatGrowsWithTheRows) {
  // 15 ns x 2 x (1 + floor(32 / 2)) on a Pod64.
  EXPECT_EQ(roundCost(clockedLayout("pod64", 64)), std::chrono::nanoseconds(10'000 + 510));
  EXPECT_EQ(roundCost(clockedLayout("pod128", 128)), std::chrono::nanoseconds(10'000 + 510));
  EXPECT_EQ(roundCost(clockedLayout("pod4", 4)), std::chrono::nanoseconds(10'000 + 60));
}

TEST(ComputeTime, DividesByTheIpusAndTheFractionOfThePeak) {
  PodSpec spec = podSpecByName("pod16").value();
  spec.achieved_fraction = 0.5;
  EXPECT_EQ(computeTime(spec, 62.5e12, 1), std::chrono::seconds(2));
  EXPECT_EQ(computeTime(spec, 62.5e12, 4), std::chrono::milliseconds(500));
  EXPECT_EQ(computeTime(spec, 0, 1), Picoseconds(0));
}

}  // namespace
}  // namespace popdist::pod
