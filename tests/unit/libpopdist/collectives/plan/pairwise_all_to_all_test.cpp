// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/plan/pairwise_all_to_all.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/testing/plan_simulator.h"
#include "tests/unit/libpopdist/collectives/plan/samples.h"

namespace popdist::plan {
namespace {

TEST(PairwiseAllToAll, EveryRankEndsWithItsBlockOfEveryRank) {
  for (const int ranks : groupSizes()) {
    for (const std::size_t count : countsFor(ranks)) {
      const std::size_t total = static_cast<std::size_t>(ranks) * count;
      std::vector<SimulatedRank<Element>> group(static_cast<std::size_t>(ranks));
      for (int rank = 0; rank < ranks; ++rank)
        group[static_cast<std::size_t>(rank)] = {planPairwiseAllToAll(rank, ranks, count),
                                                 samplesOf(rank, total), garbage(total)};
      ASSERT_EQ(simulate(group, kGarbage), "") << groupName(ranks, count);
      for (int rank = 0; rank < ranks; ++rank) {
        std::vector<Element> expected;
        for (int sender = 0; sender < ranks; ++sender) {
          for (std::size_t i = 0; i < count; ++i)
            expected.push_back(sampleOf(sender, static_cast<std::size_t>(rank) * count + i));
        }
        ASSERT_EQ(group[static_cast<std::size_t>(rank)].output, expected) << groupName(ranks, count);
        ASSERT_EQ(group[static_cast<std::size_t>(rank)].input, samplesOf(rank, total))
            << groupName(ranks, count);
      }
    }
  }
}

TEST(PairwiseAllToAll, InEachRoundEveryRankHasOneSender) {
  for (const int ranks : groupSizes()) {
    std::map<std::uint32_t, std::set<int>> receivers_in_round;
    for (int rank = 0; rank < ranks; ++rank) {
      for (const Step& step : planPairwiseAllToAll(rank, ranks, 1).steps) {
        if (step.kind != StepKind::kSend) continue;
        EXPECT_TRUE(receivers_in_round[step.round].insert(step.peer).second) << ranks << " ranks";
      }
    }
    EXPECT_EQ(receivers_in_round.size(), static_cast<std::size_t>(ranks) - 1);
  }
}

TEST(PairwiseAllToAll, SendsEachForeignBlockOnce) {
  for (const int ranks : groupSizes())
    EXPECT_EQ(elementsSent(planPairwiseAllToAll(0, ranks, 10)), 10 * (static_cast<std::size_t>(ranks) - 1));
}

}  // namespace
}  // namespace popdist::plan
