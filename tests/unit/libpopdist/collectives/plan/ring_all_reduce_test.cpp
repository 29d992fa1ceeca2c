// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/plan/ring_all_reduce.h"

#include <gtest/gtest.h>

#include <numeric>
#include <span>

#include "common/base/random.h"
#include "tests/testing/plan_simulator.h"
#include "tests/unit/libpopdist/collectives/plan/samples.h"

namespace popdist::plan {
namespace {

void expectSumEverywhere(const std::vector<int>& order, std::size_t count) {
  const int ranks = static_cast<int>(order.size());
  std::vector<SimulatedRank<Element>> group(order.size());
  for (int position = 0; position < ranks; ++position) {
    const int rank = order[static_cast<std::size_t>(position)];
    group[static_cast<std::size_t>(rank)] = {
        planRingAllReduce(order, position, count), {}, samplesOf(rank, count)};
  }
  ASSERT_EQ(simulate(group, kGarbage), "") << groupName(ranks, count);
  std::vector<Element> expected(count);
  for (std::size_t i = 0; i < count; ++i) expected[i] = sumOfSamples(ranks, i);
  for (const auto& self : group) ASSERT_EQ(self.output, expected) << groupName(ranks, count);
}

std::vector<int> shuffledOrder(int ranks, std::uint64_t seed) {
  std::vector<int> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  pop::SplitMix64 random(seed);
  pop::shuffle(std::span(order), random);
  return order;
}

TEST(RingAllReduce, EveryRankEndsWithTheSum) {
  for (const int ranks : groupSizes()) {
    std::vector<int> order(static_cast<std::size_t>(ranks));
    std::iota(order.begin(), order.end(), 0);
    for (const std::size_t count : countsFor(ranks)) expectSumEverywhere(order, count);
  }
}

TEST(RingAllReduce, AnyOrderOfTheRingGivesTheSameSum) {
  for (int ranks = 2; ranks <= 17; ++ranks) {
    for (const std::uint64_t seed : {1U, 2U, 3U})
      expectSumEverywhere(shuffledOrder(ranks, seed), static_cast<std::size_t>(3 * ranks + 1));
  }
}

TEST(RingAllReduce, WithoutAnOrderRanksStandInTheirOwn) {
  const std::vector<int> order{0, 1, 2, 3, 4};
  for (int rank = 0; rank < 5; ++rank)
    EXPECT_EQ(planRingAllReduce(rank, 5, 12).steps, planRingAllReduce(order, rank, 12).steps);
}

TEST(RingAllReduce, TakesTwoRoundsPerOtherRank) {
  for (const int ranks : groupSizes()) {
    for (const std::size_t count : countsFor(ranks)) {
      const Plan plan = planRingAllReduce(ranks - 1, ranks, count);
      EXPECT_EQ(roundsOf(plan), 2 * (static_cast<std::size_t>(ranks) - 1)) << groupName(ranks, count);
      EXPECT_EQ(plan.scratch_count, 0U);
    }
  }
}

TEST(RingAllReduce, SendsAllBlocksTwiceButTheOwnAndTheNextOnesOnce) {
  for (const int ranks : groupSizes()) {
    if (ranks == 1) continue;
    for (const std::size_t count : countsFor(ranks)) {
      for (int rank = 0; rank < ranks; ++rank) {
        const std::size_t own = blockRange(count, ranks, rank).count;
        const std::size_t next = blockRange(count, ranks, (rank + 1) % ranks).count;
        EXPECT_EQ(elementsSent(planRingAllReduce(rank, ranks, count)), 2 * count - own - next)
            << groupName(ranks, count);
      }
    }
  }
}

TEST(RingAllReduce, OfOneRankHasNothingToDo) {
  EXPECT_TRUE(planRingAllReduce(0, 1, 1000).steps.empty());
}

}  // namespace
}  // namespace popdist::plan
