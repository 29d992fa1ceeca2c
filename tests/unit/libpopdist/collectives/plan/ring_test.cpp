// SPDX-License-Identifier: Apache-2.0
// The phases of the ring, and that a hierarchical all-reduce can be put together from them.
#include "libpopdist/collectives/plan/ring.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "libpopdist/collectives/plan/ring_all_reduce.h"
#include "libpopdist/collectives/plan/ring_reduce_scatter.h"
#include "libpopdist/collectives/plan/steps.h"
#include "tests/testing/plan_simulator.h"
#include "tests/unit/libpopdist/collectives/plan/samples.h"

namespace popdist::plan {
namespace {

/// Instead of a sum, who was added after whom.
struct AppendOwnToIncoming {
  std::string operator()(const std::string& own, const std::string& incoming) const { return incoming + own; }
};

std::string nameOfPosition(int position) {
  return {static_cast<char>('a' + position)};
}

/// Positions block + 1, block + 2, … block.
std::string oneTurnEndingAt(int block, int ranks) {
  std::string turn;
  for (int distance = 1; distance <= ranks; ++distance) turn += nameOfPosition((block + distance) % ranks);
  return turn;
}

TEST(BlockRange, CoversTheVectorWithBlocksThatDifferByAtMostOne) {
  for (const int blocks : groupSizes()) {
    for (const std::size_t count : countsFor(blocks)) {
      std::size_t next = 0;
      const std::size_t least = count / static_cast<std::size_t>(blocks);
      for (int index = 0; index < blocks; ++index) {
        const Range block = blockRange(count, blocks, index);
        EXPECT_EQ(block.begin, next) << groupName(blocks, count);
        EXPECT_GE(block.count, least) << groupName(blocks, count);
        EXPECT_LE(block.count, least + 1) << groupName(blocks, count);
        next += block.count;
      }
      EXPECT_EQ(next, count) << groupName(blocks, count);
    }
  }
}

TEST(BlockRange, DoesNotOverflowForTheLargestVector) {
  const Range last = blockRange(SIZE_MAX, 64, 63);
  EXPECT_EQ(last.begin + last.count, SIZE_MAX);
}

TEST(SplitEvenly, CutsASubrange) {
  const std::vector<Range> blocks = splitEvenly({100, 5}, 3);
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_EQ(blocks[0].begin, 100U);
  EXPECT_EQ(blocks[0].count, 2U);
  EXPECT_EQ(blocks[1].begin, 102U);
  EXPECT_EQ(blocks[1].count, 2U);
  EXPECT_EQ(blocks[2].begin, 104U);
  EXPECT_EQ(blocks[2].count, 1U);
}

TEST(RingPlace, KnowsItsNeighboursInAnyOrder) {
  const std::array order{7, 2, 9};
  EXPECT_EQ(RingPlace(order, 0).nextRank(), 2);
  EXPECT_EQ(RingPlace(order, 0).previousRank(), 9);
  EXPECT_EQ(RingPlace(order, 2).nextRank(), 7);
  EXPECT_EQ(RingPlace(order, 2).previousRank(), 2);
}

TEST(NextRound, FollowsTheLastRoundOfThePlan) {
  Plan plan;
  EXPECT_EQ(nextRound(plan), 0U);
  plan.steps.push_back(copyStep(4, {}, {}, 0));
  EXPECT_EQ(nextRound(plan), 5U);
}

TEST(RingReduceScatterPhase, SumsEachBlockInOneTurnThatEndsAtItsPosition) {
  for (int ranks = 1; ranks <= 17; ++ranks) {
    const std::vector<Range> blocks = splitEvenly({0, static_cast<std::size_t>(ranks)}, ranks);
    std::vector<SimulatedRank<std::string>> group(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
      auto& self = group[static_cast<std::size_t>(rank)];
      appendRingReduceScatter(self.plan, naturalOrder(ranks), rank, blocks);
      self.output.assign(blocks.size(), nameOfPosition(rank));
    }
    ASSERT_EQ(simulate(group, std::string("?"), AppendOwnToIncoming{}), "") << ranks << " ranks";
    for (int block = 0; block < ranks; ++block) {
      const auto index = static_cast<std::size_t>(block);
      EXPECT_EQ(group[index].output[index], oneTurnEndingAt(block, ranks));
    }
  }
}

TEST(RingReduceScatterPhase, SumsInTheSameOrderAsTheOutOfPlaceAlgorithm) {
  constexpr int kRanks = 5;
  std::vector<SimulatedRank<std::string>> group(kRanks);
  for (int rank = 0; rank < kRanks; ++rank) {
    auto& self = group[static_cast<std::size_t>(rank)];
    self = {planRingReduceScatter(rank, kRanks, 1, 1), std::vector(kRanks, nameOfPosition(rank)), {"?"}};
  }
  ASSERT_EQ(simulate(group, std::string("?"), AppendOwnToIncoming{}), "");
  for (int rank = 0; rank < kRanks; ++rank)
    EXPECT_EQ(group[static_cast<std::size_t>(rank)].output[0], oneTurnEndingAt(rank, kRanks));
}

TEST(RingPhases, FollowPositionsNotRankNumbers) {
  const std::array order{2, 0, 3, 1};
  std::vector<SimulatedRank<std::string>> group(order.size());
  for (int position = 0; position < 4; ++position) {
    auto& self = group[static_cast<std::size_t>(order[static_cast<std::size_t>(position)])];
    self = {planRingAllReduce(order, position, 4), {}, std::vector<std::string>(4, nameOfPosition(position))};
  }
  ASSERT_EQ(simulate(group, std::string("?"), AppendOwnToIncoming{}), "");
  const std::vector<std::string> turns{"bcda", "cdab", "dabc", "abcd"};
  for (const auto& self : group) EXPECT_EQ(self.output, turns);
}

TEST(RingPhases, LeaveElementsOutsideTheirBlocksAlone) {
  const std::array<Range, 3> blocks{Range{1, 2}, Range{6, 0}, Range{4, 1}};
  std::vector<SimulatedRank<Element>> group(3);
  for (int rank = 0; rank < 3; ++rank) {
    auto& self = group[static_cast<std::size_t>(rank)];
    appendRingReduceScatter(self.plan, naturalOrder(3), rank, blocks);
    appendRingAllGather(self.plan, naturalOrder(3), rank, blocks);
    self.output = samplesOf(rank, 7);
  }
  ASSERT_EQ(simulate(group, kGarbage), "");
  for (int rank = 0; rank < 3; ++rank) {
    for (const std::size_t i : {0U, 3U, 5U, 6U})
      EXPECT_EQ(group[static_cast<std::size_t>(rank)].output[i], sampleOf(rank, i));
    for (const std::size_t i : {1U, 2U, 4U})
      EXPECT_EQ(group[static_cast<std::size_t>(rank)].output[i], sumOfSamples(3, i));
  }
}

/// Two levels: within a domain a reduce-scatter, across domains an all-reduce of the own block, within it an
/// all-gather. Rank = domain · size + place.
Plan planTwoLevels(int rank, int domains, int domain_size, std::size_t count) {
  const int domain = rank / domain_size;
  const int place = rank % domain_size;
  std::vector<int> inside;
  for (int i = 0; i < domain_size; ++i) inside.push_back(domain * domain_size + i);
  std::vector<int> across;
  for (int i = 0; i < domains; ++i) across.push_back(i * domain_size + place);
  const std::vector<Range> blocks = splitEvenly({0, count}, domain_size);
  const std::vector<Range> pieces = splitEvenly(blocks[static_cast<std::size_t>(place)], domains);

  Plan plan;
  appendRingReduceScatter(plan, inside, place, blocks);
  appendRingReduceScatter(plan, across, domain, pieces);
  appendRingAllGather(plan, across, domain, pieces);
  appendRingAllGather(plan, inside, place, blocks);
  return plan;
}

TEST(RingPhases, ComposeIntoAHierarchicalAllReduce) {
  for (const auto& [domains, domain_size] : {std::pair{1, 4}, {4, 1}, {2, 3}, {3, 4}, {5, 2}}) {
    const int ranks = domains * domain_size;
    for (const std::size_t count : countsFor(ranks)) {
      std::vector<SimulatedRank<Element>> group(static_cast<std::size_t>(ranks));
      for (int rank = 0; rank < ranks; ++rank)
        group[static_cast<std::size_t>(rank)] = {
            planTwoLevels(rank, domains, domain_size, count), {}, samplesOf(rank, count)};
      ASSERT_EQ(simulate(group, kGarbage), "") << groupName(ranks, count);
      std::vector<Element> expected(count);
      for (std::size_t i = 0; i < count; ++i) expected[i] = sumOfSamples(ranks, i);
      for (const auto& self : group) ASSERT_EQ(self.output, expected) << groupName(ranks, count);
    }
  }
}

}  // namespace
}  // namespace popdist::plan
