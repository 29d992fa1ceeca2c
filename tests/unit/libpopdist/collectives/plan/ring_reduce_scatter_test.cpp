// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/plan/ring_reduce_scatter.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

#include "tests/testing/plan_simulator.h"
#include "tests/unit/libpopdist/collectives/plan/samples.h"

namespace popdist::plan {
namespace {

constexpr std::size_t kOneSegment = SIZE_MAX;

class RingReduceScatterInSegments : public ::testing::TestWithParam<std::size_t> {};

TEST_P(RingReduceScatterInSegments, LeavesEveryRankWithTheSumOfItsBlock) {
  for (const int ranks : groupSizes()) {
    for (const std::size_t count : countsFor(ranks)) {
      const std::size_t total = static_cast<std::size_t>(ranks) * count;
      std::vector<SimulatedRank<Element>> group(static_cast<std::size_t>(ranks));
      for (int rank = 0; rank < ranks; ++rank)
        group[static_cast<std::size_t>(rank)] = {planRingReduceScatter(rank, ranks, count, GetParam()),
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

class RingReduceScatterOfBlocks : public ::testing::TestWithParam<std::size_t> {};

TEST_P(RingReduceScatterOfBlocks, GivesAPositionItsBlockInAnyOrderWithBlocksOfAnySize) {
  const std::array order{2, 0, 3, 1};
  const std::array<Range, 4> blocks{Range{6, 3}, Range{0, 1}, Range{5, 0}, Range{1, 4}};
  std::vector<SimulatedRank<Element>> group(order.size());
  for (std::size_t position = 0; position < order.size(); ++position) {
    const int rank = order[position];
    group[static_cast<std::size_t>(rank)] = {
        planRingReduceScatter(order, static_cast<int>(position), blocks, GetParam()), samplesOf(rank, 9),
        garbage(blocks[position].count)};
  }
  ASSERT_EQ(simulate(group, kGarbage), "");
  for (std::size_t position = 0; position < order.size(); ++position) {
    std::vector<Element> expected(blocks[position].count);
    for (std::size_t i = 0; i < expected.size(); ++i)
      expected[i] = sumOfSamples(4, blocks[position].begin + i);
    EXPECT_EQ(group[static_cast<std::size_t>(order[position])].output, expected);
  }
}

std::string nameOfSegment(const ::testing::TestParamInfo<std::size_t>& tested) {
  return tested.param == kOneSegment ? "one" : "of" + std::to_string(tested.param);
}

INSTANTIATE_TEST_SUITE_P(Segments, RingReduceScatterInSegments, ::testing::Values(13, kOneSegment),
                         nameOfSegment);
INSTANTIATE_TEST_SUITE_P(Segments, RingReduceScatterOfBlocks, ::testing::Values(1, 3, kOneSegment),
                         nameOfSegment);

TEST(RingReduceScatter, TakesOneRoundPerOtherRankAndSendsOneBlockInEach) {
  for (const int ranks : groupSizes()) {
    const auto others = static_cast<std::size_t>(ranks) - 1;
    const Plan plan = planRingReduceScatter(0, ranks, 10, kOneSegment);
    EXPECT_EQ(roundsOf(plan), ranks == 1 ? 1 : others);
    EXPECT_EQ(elementsSent(plan), 10 * others);
  }
}

TEST(RingReduceScatter, NeedsAtMostFourSegmentsOfScratchHoweverLongTheBlocks) {
  for (const std::size_t count : {11U, 1000U, 1'000'000U}) {
    EXPECT_EQ(planRingReduceScatter(0, 1, count, 10).scratch_count, 0U);
    EXPECT_EQ(planRingReduceScatter(0, 2, count, 10).scratch_count, 0U);
    EXPECT_EQ(planRingReduceScatter(0, 3, count, 10).scratch_count, 20U);
    EXPECT_EQ(planRingReduceScatter(0, 4, count, 10).scratch_count, 40U);
    EXPECT_EQ(planRingReduceScatter(0, 64, count, 10).scratch_count, 40U);
  }
}

TEST(RingReduceScatter, ReadsOfItsOwnBlockWhatItWritesToTheOutputOnlySoThatTheyMayBeTheSame) {
  constexpr std::size_t kCount = 10;
  for (const std::size_t segment : {std::size_t{3}, kOneSegment}) {
    for (int ranks = 2; ranks <= 9; ++ranks) {
      for (int rank = 0; rank < ranks; ++rank) {
        const std::size_t begin = static_cast<std::size_t>(rank) * kCount;
        for (const Step& step : planRingReduceScatter(rank, ranks, kCount, segment).steps) {
          const bool reads_own = step.from.buffer == Buffer::kInput && step.from.offset >= begin &&
                                 step.from.offset < begin + kCount;
          const bool writes = step.kind == StepKind::kRecvReduce && step.to.buffer == Buffer::kOutput;
          EXPECT_EQ(reads_own, writes);
          if (writes) {
            EXPECT_EQ(step.from.offset, begin + step.to.offset);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace popdist::plan
