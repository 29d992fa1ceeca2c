// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/plan/tree_broadcast.h"

#include <gtest/gtest.h>

#include <bit>

#include "tests/testing/plan_simulator.h"
#include "tests/unit/libpopdist/collectives/plan/samples.h"

namespace popdist::plan {
namespace {

TEST(TreeBroadcast, EveryRankEndsWithTheDataOfAnyRoot) {
  for (const int ranks : groupSizes()) {
    for (int root = 0; root<ranks; root += ranks> 17 ? 5 : 1) {
      for (const std::size_t count : {0U, 1U, 13U}) {
        std::vector<SimulatedRank<Element>> group(static_cast<std::size_t>(ranks));
        for (int rank = 0; rank < ranks; ++rank)
          group[static_cast<std::size_t>(rank)] = {planTreeBroadcast(rank, ranks, root, count),
                                                   {},
                                                   rank == root ? samplesOf(root, count) : garbage(count)};
        ASSERT_EQ(simulate(group, kGarbage), "") << groupName(ranks, count) << ", root " << root;
        for (const auto& self : group)
          ASSERT_EQ(self.output, samplesOf(root, count)) << groupName(ranks, count) << ", root " << root;
      }
    }
  }
}

TEST(TreeBroadcast, WorksForEveryLength) {
  for (int ranks = 1; ranks <= 17; ++ranks) {
    const int root = ranks / 2;
    for (const std::size_t count : countsFor(ranks)) {
      std::vector<SimulatedRank<Element>> group(static_cast<std::size_t>(ranks));
      for (int rank = 0; rank < ranks; ++rank)
        group[static_cast<std::size_t>(rank)] = {planTreeBroadcast(rank, ranks, root, count),
                                                 {},
                                                 rank == root ? samplesOf(root, count) : garbage(count)};
      ASSERT_EQ(simulate(group, kGarbage), "") << groupName(ranks, count);
      for (const auto& self : group)
        ASSERT_EQ(self.output, samplesOf(root, count)) << groupName(ranks, count);
    }
  }
}

TEST(TreeBroadcast, EndsAfterTheLogarithmOfTheRanks) {
  for (const int ranks : groupSizes()) {
    const auto depth = static_cast<std::uint32_t>(std::bit_width(static_cast<unsigned>(ranks) - 1));
    for (int rank = 0; rank < ranks; ++rank) {
      for (const Step& step : planTreeBroadcast(rank, ranks, 0, 1).steps) EXPECT_LT(step.round, depth);
    }
    EXPECT_EQ(planTreeBroadcast(0, ranks, 0, 1).steps.size(), depth);
  }
}

TEST(TreeBroadcast, DeliversToEachRankButTheRootOnce) {
  for (const int ranks : groupSizes()) {
    for (int rank = 0; rank < ranks; ++rank) {
      int received = 0;
      for (const Step& step : planTreeBroadcast(rank, ranks, 0, 1).steps)
        received += step.kind == StepKind::kRecv;
      EXPECT_EQ(received, rank == 0 ? 0 : 1);
    }
  }
}

TEST(TreeBroadcast, CrossesBetweenTwoHostsOnce) {
  int crossings = 0;
  for (int rank = 0; rank < 16; ++rank) {
    for (const Step& step : planTreeBroadcast(rank, 16, 0, 1).steps)
      crossings += step.kind == StepKind::kSend && rank / 8 != step.peer / 8;
  }
  EXPECT_EQ(crossings, 1);
}

}  // namespace
}  // namespace popdist::plan
