// SPDX-License-Identifier: Apache-2.0
// Plans in segments come to what they come to in one piece, keep little, and overlap.
#include "libpopdist/collectives/plan/segments.h"

#include <gtest/gtest.h>

#include <functional>

#include "libpopdist/collectives/plan/tree_reduce.h"
#include "tests/testing/plan_simulator.h"
#include "tests/unit/libpopdist/collectives/plan/samples.h"

namespace popdist::plan {
namespace {

constexpr std::size_t kMost = 4;

Plan treeReduce(int rank, int ranks, int root, std::size_t count) {
  return inSegments(count, kMost,
                    [&](Range segment) { return planTreeReduce(rank, ranks, root, segment.count); });
}

std::vector<Element> sums(int ranks, std::size_t count) {
  std::vector<Element> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = sumOfSamples(ranks, i);
  return all;
}

TEST(Segments, OfATreeLeaveTheRootWithTheSum) {
  for (const int ranks : groupSizes()) {
    for (const std::size_t count : {0U, 3U, 4U, 5U, 8U, 30U}) {
      const int root = ranks / 2;
      std::vector<SimulatedRank<Element>> group;
      for (int rank = 0; rank < ranks; ++rank)
        group.push_back({treeReduce(rank, ranks, root, count), samplesOf(rank, count), garbage(count)});
      ASSERT_EQ(simulate(group, kGarbage), "") << groupName(ranks, count);
      ASSERT_EQ(group[static_cast<std::size_t>(root)].output, sums(ranks, count)) << groupName(ranks, count);
    }
  }
}

TEST(Segments, KeepTwoOfThemselvesHoweverManyThereAre) {
  EXPECT_EQ(treeReduce(2, 4, 0, kMost).scratch_count, kMost);
  EXPECT_EQ(treeReduce(2, 4, 0, kMost + 1).scratch_count, 2 * kMost);
  EXPECT_EQ(treeReduce(2, 4, 0, 1000 * kMost).scratch_count, 2 * kMost);
}

// Rank 2 takes a segment from rank 3 while it gives the one before to rank 0.
TEST(Segments, OfSeveralRoundsOverlap) {
  const Plan plan = treeReduce(2, 4, 0, 3 * kMost);
  EXPECT_EQ(roundsOf(plan), 4U);
  std::vector<StepKind> beside;
  for (const Step& step : plan.steps) {
    if (step.round == 1) beside.push_back(step.kind);
  }
  EXPECT_EQ(beside, (std::vector{StepKind::kSend, StepKind::kRecvReduce}));
}

// Or all of them would be under way at once.
TEST(Segments, OfOneRoundTakeOneEach) {
  EXPECT_EQ(roundsOf(treeReduce(3, 4, 0, 3 * kMost)), 3U);
}

}  // namespace
}  // namespace popdist::plan
