// SPDX-License-Identifier: Apache-2.0
#include "pod/clock/clock.h"

#include <gtest/gtest.h>

#include <vector>

#include "pod/collectives/gcl.h"

namespace pop::pod {
namespace {

constexpr std::size_t kElementBytes = 4;

ReplicaLayout clockedLayout(const char* pod, int replicas, int ipus_per_replica = 1) {
  return {podSpecByName(pod).value(), replicas, ipus_per_replica};
}

CollectiveTime clockedTime(const ReplicaLayout& layout, std::size_t count, GclMethods methods = {}) {
  return simulate(Topology(layout.spec), layout, gclAllReduce(layout, layout.replicas, methods), count,
                  kElementBytes);
}

// A collective of one phase whose rounds all differ.
Schedule scheduleOf(int replicas, const std::vector<std::vector<Transfer>>& rounds) {
  Schedule schedule{.replicas = replicas, .blocks = 100, .phases = {}};
  Phase phase{.name = "test", .rounds = static_cast<int>(rounds.size()), .classes = {}, .transfers = {}};
  for (int round = 0; round < phase.rounds; ++round) phase.classes.push_back({round, 1});
  phase.transfers = [rounds](int round, const Take& take) {
    for (const Transfer& transfer : rounds[static_cast<std::size_t>(round)]) take(transfer);
  };
  schedule.phases.push_back(std::move(phase));
  return schedule;
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
      transferTime(4 * kCount / 128 * kElementBytes, 2 * layout.spec.links.gw_link_bytes_per_s);
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
  // 0 -> 4 and 2 -> 4 share the rail from IPU 2 to IPU 4. A block of 100 is 4 elements, 16 bytes.
  const ReplicaLayout layout = clockedLayout("pod16", 5);
  const Topology pod16(layout.spec);
  const Transfer low{.from = 0, .to = 4, .first = 0, .blocks = 25};
  const Transfer high{.from = 2, .to = 4, .first = 0, .blocks = 75};
  const CollectiveTime together = simulate(pod16, layout, scheduleOf(5, {{low, high}}), 400, kElementBytes);
  EXPECT_EQ(together.total, transferTime(1600, layout.spec.links.rail_bytes_per_s) + roundCost(layout));
  EXPECT_EQ(together.bytes_on_busiest_link, 1600u);

  const CollectiveTime apart = simulate(pod16, layout, scheduleOf(5, {{low}, {high}}), 400, kElementBytes);
  EXPECT_EQ(apart.rounds, 2);
  EXPECT_EQ(apart.bytes_on_busiest_link, 1600u);
}

TEST(Clock, AMessageIsLateByTheLinksOnItsWay) {
  ReplicaLayout layout = clockedLayout("pod16", 16);
  layout.spec.link_latency = std::chrono::nanoseconds(150);
  const Transfer far{.from = 0, .to = 9, .first = 0, .blocks = 100};
  const CollectiveTime time = simulate(Topology(layout.spec), layout, scheduleOf(16, {{far}}), 100, 4);
  EXPECT_EQ(time.total, transferTime(400, layout.spec.links.rail_bytes_per_s) + roundCost(layout) +
                            5 * std::chrono::nanoseconds(150));
}

// Classes of rounds are a promise of each phase: the same time as all rounds one by one.
TEST(Clock, RoundsOfAClassTakeTheSameTime) {
  const auto each = [](Schedule schedule) {
    for (Phase& phase : schedule.phases) {
      phase.classes.clear();
      for (int round = 0; round < phase.rounds; ++round) phase.classes.push_back({round, 1});
    }
    return schedule;
  };
  for (const RingMethod method :
       {RingMethod::kClockwise, RingMethod::kAnticlockwise, RingMethod::kBidirectionalPair,
        RingMethod::kMeetInTheMiddle, RingMethod::kQuadDirectional}) {
    for (const auto& layout :
         {clockedLayout("pod16", 7), clockedLayout("pod16", 16), clockedLayout("pod64-twist", 64),
          clockedLayout("pod64-torus", 16, 4), clockedLayout("pod256", 32, 8)}) {
      const Topology topology(layout.spec);
      const Schedule schedule = gclAllReduce(layout, layout.replicas, {method, method});
      EXPECT_EQ(simulate(topology, layout, schedule, 12345, 4),
                simulate(topology, layout, each(schedule), 12345, 4))
          << layout.spec.name << " " << nameOf(method);
    }
  }
}

TEST(Clock, MeetInTheMiddleTakesHalfTheRoundsAndThePairHalfTheBytes) {
  const ReplicaLayout layout = clockedLayout("pod16", 16);
  constexpr std::size_t kCount = 32 * 4096;
  const std::uint64_t rail = layout.spec.links.rail_bytes_per_s;
  const CollectiveTime middle =
      clockedTime(layout, kCount, {RingMethod::kMeetInTheMiddle, RingMethod::kMeetInTheMiddle});
  EXPECT_EQ(middle.rounds, 16);
  EXPECT_EQ(middle.total, 16 * (transferTime(kCount / 16 * 4, rail) + roundCost(layout)));
  const CollectiveTime pair =
      clockedTime(layout, kCount, {RingMethod::kBidirectionalPair, RingMethod::kBidirectionalPair});
  EXPECT_EQ(pair.rounds, 30);
  EXPECT_EQ(pair.total, 30 * (transferTime(kCount / 32 * 4, rail) + roundCost(layout)));
}

// Each rail carries one fragment a round, each rung one of both rings.
TEST(Clock, TheQuadOfABarleyTwistUsesItsLinksEvenly) {
  const ReplicaLayout layout = clockedLayout("pod64-twist", 64);
  constexpr std::size_t kCount = 256 * 1024;
  const CollectiveTime quad =
      clockedTime(layout, kCount, {RingMethod::kQuadDirectional, RingMethod::kQuadDirectional});
  const Picoseconds fragment = transferTime(kCount / 256 * 4, layout.spec.links.rail_bytes_per_s);
  EXPECT_EQ(quad.total, 126 * (fragment + roundCost(layout)));
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

// Rails and rungs of a byte a second, which a system file may have.
ReplicaLayout slowLayout(int replicas) {
  ReplicaLayout layout = clockedLayout("pod16", replicas);
  layout.spec.links.rail_bytes_per_s = layout.spec.links.rung_bytes_per_s = 1;
  layout.spec.links.cross_rung_bytes_per_s = 1;
  return layout;
}

TEST(Clock, TimesEndAtTheLongestOne) {
  const ReplicaLayout layout = slowLayout(16);
  EXPECT_LT(clockedTime(layout, 200'000).total, kLongestTime);
  for (const std::size_t count : {10'000'000UL, 250'000'000'000'000UL, std::size_t{1} << 60, ~std::size_t{0}})
    EXPECT_EQ(clockedTime(layout, count).total, kLongestTime) << count;
  EXPECT_EQ(clockedTime(layout, ~std::size_t{0}).bytes_on_busiest_link, kMostCounted);
}

TEST(Clock, CostsOfManyRoundsEndThereToo) {
  ReplicaLayout layout = clockedLayout("pod64", 64);
  layout.spec.step_cost = layout.spec.link_latency = layout.spec.sync_hop_latency = std::chrono::hours(1);
  EXPECT_EQ(clockedTime(layout, 64).total, kLongestTime);
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
  EXPECT_EQ(computeTime(spec, 1e30, 1), std::nullopt);
}

}  // namespace
}  // namespace pop::pod
