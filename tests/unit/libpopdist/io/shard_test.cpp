// SPDX-License-Identifier: Apache-2.0
// The shuffle and who gets what.
#include "libpopdist/src/io/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace popdist::io {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::uint32_t> firstNumbers(std::size_t count) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

TEST(EpochOrder, IsAPermutation) {
  std::vector<std::uint32_t> order = epochOrder(1000, 3, 4);
  EXPECT_NE(order, firstNumbers(1000));
  std::ranges::sort(order);
  EXPECT_EQ(order, firstNumbers(1000));
}

TEST(EpochOrder, IsTheSameForTheSameSeedAndEpoch) {
  EXPECT_EQ(epochOrder(1000, 3, 4), epochOrder(1000, 3, 4));
}

TEST(EpochOrder, DiffersForEverySeedAndEpoch) {
  std::set<std::vector<std::uint32_t>> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (std::uint64_t epoch = 0; epoch < 20; ++epoch) orders.insert(epochOrder(50, seed, epoch));
  }
  EXPECT_EQ(orders.size(), 400U);
}

// Recorded runs can be repeated only as long as these stay.
TEST(EpochOrder, IsFrozen) {
  EXPECT_THAT(epochOrder(8, 0, 0), ElementsAre(6, 0, 4, 3, 7, 2, 5, 1));
  EXPECT_THAT(epochOrder(8, 0, 1), ElementsAre(2, 3, 6, 4, 1, 7, 5, 0));
  EXPECT_THAT(epochOrder(8, 1, 0), ElementsAre(4, 2, 0, 5, 6, 1, 7, 3));
  std::vector<std::uint32_t> large = epochOrder(60000, 42, 7);
  large.resize(6);
  EXPECT_THAT(large, ElementsAre(15530, 49239, 15407, 45073, 27668, 5195));
}

TEST(EpochOrder, OfNothingAndOfOne) {
  EXPECT_THAT(epochOrder(0, 1, 2), IsEmpty());
  EXPECT_THAT(epochOrder(1, 1, 2), ElementsAre(0));
}

TEST(EpochOrder, PutsEverySampleFirstAboutEquallyOften) {
  std::vector<int> first(8);
  for (std::uint64_t epoch = 0; epoch < 8000; ++epoch) ++first[epochOrder(8, 11, epoch)[0]];
  // 1000 expected, standard deviation 30: five of them.
  EXPECT_THAT(first, ::testing::Each(::testing::AllOf(::testing::Gt(850), ::testing::Lt(1150))));
}

TEST(TrainingShard, ReplicaTakesItsPlaceInEveryGlobalBatch) {
  const std::vector<std::uint32_t> order = epochOrder(25, 5, 6);
  for (int replica = 0; replica < 4; ++replica) {
    const Shard shard{.samples = 25, .replicas = 4, .replica = replica, .batch_size = 3};
    ASSERT_EQ(trainingSteps(shard), 2U);
    const std::vector<std::uint32_t> mine = trainingSamples(shard, 5, 6);
    ASSERT_EQ(mine.size(), 6U);
    const auto offset = static_cast<std::size_t>(replica) * 3;
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(mine[i], order[offset + i]);
      EXPECT_EQ(mine[3 + i], order[12 + offset + i]);
    }
  }
}

TEST(TrainingShard, ReplicasTogetherSeeEverySampleOfAllFullStepsOnce) {
  std::set<std::uint32_t> seen;
  std::size_t count = 0;
  for (int replica = 0; replica < 7; ++replica) {
    const std::vector<std::uint32_t> mine = trainingSamples({1000, 7, replica, 11}, 1, 2);
    count += mine.size();
    seen.insert(mine.begin(), mine.end());
  }
  EXPECT_EQ(count, 1000U / 77 * 77);
  EXPECT_EQ(seen.size(), count);
}

TEST(TrainingShard, StepsDoNotOverflow) {
  EXPECT_EQ(trainingSteps({1000, 1 << 30, 0, std::size_t{1} << 62U}), 0U);
}

TEST(EvaluationShard, EverySampleExactlyOnceInOrder) {
  std::vector<std::uint32_t> all;
  for (int replica = 0; replica < 4; ++replica) {
    const std::vector<std::uint32_t> mine = evaluationSamples({10, 4, replica, 2});
    all.insert(all.end(), mine.begin(), mine.end());
  }
  EXPECT_EQ(all, firstNumbers(10));
}

TEST(EvaluationShard, StepsCountTheShorterLastBatch) {
  EXPECT_EQ(evaluationSteps({10, 4, 0, 2}), 2U);  // 3 samples
  EXPECT_EQ(evaluationSteps({10, 4, 3, 2}), 1U);  // 2 samples
  EXPECT_EQ(evaluationSteps({3, 4, 3, 2}), 0U);   // none
}

}  // namespace
}  // namespace popdist::io
