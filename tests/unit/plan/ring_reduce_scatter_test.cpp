// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/plan/ring_reduce_scatter.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/testing/plan_simulator.h"
#include "tests/unit/plan/samples.h"

namespace popdist::plan {
namespace {

TEST(RingReduceScatter, EveryRankEndsWithTheSumOfItsBlock) {
  for (const int ranks : groupSizes()) {
    for (const std::size_t count : countsFor(ranks)) {
      const std::size_t total = static_cast<std::size_t>(ranks) * count;
      std::vector<SimulatedRank<Element>> group(static_cast<std::size_t>(ranks));
      for (int rank = 0; rank < ranks; ++rank)
        group[static_cast<std::size_t>(rank)] = {planRingReduceScatter(rank, ranks, count),
                                                 samplesOf(rank, total), garbage(count)};
      ASSERT_EQ(simulate(group, kGarbage), "") << groupName(ranks, count);
      for (int rank = 0; rank < ranks; ++rank) {
        const auto& self = group[static_cast<std::size_t>(rank)];
        std::vector<Element> expected(count);
        for (std::size_t i = 0; i < count; ++i)
          expected[i] = sumOfSamples(ranks, static_cast<std::size_t>(rank) * count + i);
        ASSERT_EQ(self.output, expected) << groupName(ranks, count);
        ASSERT_EQ(self.input, samplesOf(rank, total)) << groupName(ranks, count);
      }
    }
  }
}

TEST(RingReduceScatter, GivesAPositionItsBlockInAnyOrderWithBlocksOfAnySize) {
  const std::array order{2, 0, 3, 1};
  const std::array<Range, 4> blocks{Range{6, 3}, Range{0, 1}, Range{5, 0}, Range{1, 4}};
  std::vector<SimulatedRank<Element>> group(order.size());
  for (std::size_t position = 0; position < order.size(); ++position) {
    const int rank = order[position];
    group[static_cast<std::size_t>(rank)] = {planRingReduceScatter(order, static_cast<int>(position), blocks),
                                             samplesOf(rank, 9), garbage(blocks[position].count)};
  }
  ASSERT_EQ(simulate(group, kGarbage), "");
  for (std::size_t position = 0; position < order.size(); ++position) {
    std::vector<Element> expected(blocks[position].count);
    for (std::size_t i = 0; i < expected.size(); ++i)
      expected[i] = sumOfSamples(4, blocks[position].begin + i);
    EXPECT_EQ(group[static_cast<std::size_t>(order[position])].output, expected);
  }
}

TEST(RingReduceScatter, TakesOneRoundPerOtherRankAndSendsOneBlockInEach) {
  for (const int ranks : groupSizes()) {
    const auto others = static_cast<std::size_t>(ranks) - 1;
    const Plan plan = planRingReduceScatter(0, ranks, 10);
    EXPECT_EQ(roundsOf(plan), ranks == 1 ? 1 : others);
    EXPECT_EQ(elementsSent(plan), 10 * others);
  }
}

TEST(RingReduceScatter, NeedsAtMostTwoBlocksOfScratch) {
  EXPECT_EQ(planRingReduceScatter(0, 1, 10).scratch_count, 0U);
  EXPECT_EQ(planRingReduceScatter(0, 2, 10).scratch_count, 0U);
  EXPECT_EQ(planRingReduceScatter(0, 3, 10).scratch_count, 10U);
  EXPECT_EQ(planRingReduceScatter(0, 4, 10).scratch_count, 20U);
  EXPECT_EQ(planRingReduceScatter(0, 64, 10).scratch_count, 20U);
}

TEST(RingReduceScatter, TouchesOutputAndOwnBlockInTheLastStepOnlySoThatTheyMayBeTheSame) {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      const Plan plan = planRingReduceScatter(rank, ranks, 10);
      const Slice own{Buffer::kInput, static_cast<std::size_t>(rank) * 10};
      for (const Step& step : plan.steps) {
        const bool last = step == plan.steps.back();
        EXPECT_EQ(step.kind == StepKind::kRecvReduce && step.to == (Slice{Buffer::kOutput, 0}), last);
        EXPECT_EQ(step.from == own, last);
      }
    }
  }
}

}  // namespace
}  // namespace popdist::plan
