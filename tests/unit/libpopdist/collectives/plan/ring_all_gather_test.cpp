// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/plan/ring_all_gather.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/testing/plan_simulator.h"
#include "tests/unit/libpopdist/collectives/plan/samples.h"

namespace popdist::plan {
namespace {

TEST(RingAllGather, EveryRankEndsWithAllBlocksInRankOrder) {
  for (const int ranks : groupSizes()) {
    for (const std::size_t count : countsFor(ranks)) {
      const std::size_t total = static_cast<std::size_t>(ranks) * count;
      std::vector<SimulatedRank<Element>> group(static_cast<std::size_t>(ranks));
      std::vector<Element> expected;
      for (int rank = 0; rank < ranks; ++rank) {
        const std::vector<Element> block = samplesOf(rank, count);
        group[static_cast<std::size_t>(rank)] = {planRingAllGather(rank, ranks, count), block,
                                                 garbage(total)};
        expected.insert(expected.end(), block.begin(), block.end());
      }
      ASSERT_EQ(simulate(group, kGarbage), "") << groupName(ranks, count);
      for (int rank = 0; rank < ranks; ++rank) {
        ASSERT_EQ(group[static_cast<std::size_t>(rank)].output, expected) << groupName(ranks, count);
        ASSERT_EQ(group[static_cast<std::size_t>(rank)].input, samplesOf(rank, count))
            << groupName(ranks, count);
      }
    }
  }
}

TEST(RingAllGather, PlacesBlocksOfAnySizeInAnyOrder) {
  const std::array order{1, 2, 0};
  const std::array<Range, 3> blocks{Range{3, 2}, Range{0, 3}, Range{5, 0}};
  std::vector<SimulatedRank<Element>> group(order.size());
  for (std::size_t position = 0; position < order.size(); ++position) {
    const int rank = order[position];
    group[static_cast<std::size_t>(rank)] = {planRingAllGather(order, static_cast<int>(position), blocks),
                                             samplesOf(rank, blocks[position].count), garbage(5)};
  }
  ASSERT_EQ(simulate(group, kGarbage), "");
  const std::vector<Element> expected{sampleOf(2, 0), sampleOf(2, 1), sampleOf(2, 2), sampleOf(1, 0),
                                      sampleOf(1, 1)};
  for (const auto& self : group) EXPECT_EQ(self.output, expected);
}

TEST(RingAllGather, TakesOneRoundPerOtherRankAndSendsOneBlockInEach) {
  for (const int ranks : groupSizes()) {
    const auto others = static_cast<std::size_t>(ranks) - 1;
    const Plan plan = planRingAllGather(0, ranks, 10);
    EXPECT_EQ(roundsOf(plan), ranks == 1 ? 1 : others);
    EXPECT_EQ(elementsSent(plan), 10 * others);
  }
}

}  // namespace
}  // namespace popdist::plan
