// SPDX-License-Identifier: Apache-2.0
// Permutation: each index once, all orders about equally likely, and the same for ever.
#include "libpopdist/data/dataset/permutation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace popdist::io {
namespace {

std::vector<std::uint64_t> orderOf(std::uint64_t count, std::uint64_t seed, std::uint64_t epoch) {
  const Permutation permutation(count);
  const std::uint64_t key = Permutation::keyOf(seed, epoch);
  std::vector<std::uint64_t> order;
  for (std::uint64_t i = 0; i < count; ++i) order.push_back(permutation.at(i, key));
  return order;
}

TEST(Permutation, HasEachIndexOnce) {
  for (std::uint64_t count : {1U, 2U, 3U, 7U, 16U, 1000U, 1023U, 1024U, 1025U, 60000U}) {
    std::vector<std::uint64_t> order = orderOf(count, 42, 3);
    std::sort(order.begin(), order.end());
    for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(order[i], i) << count;
  }
}

TEST(Permutation, ReachesFarBeyondWhatFitsInATable) {
  const std::uint64_t count = std::uint64_t{1} << 62U;
  const Permutation permutation(count);
  for (const std::uint64_t index : {std::uint64_t{0}, count / 2, count - 1})
    EXPECT_LT(permutation.at(index, Permutation::keyOf(1, 0)), count);
}

// A change here changes what every user's training reads.
TEST(Permutation, IsPartOfTheFormat) {
  EXPECT_THAT(orderOf(10, 0, 0), ::testing::ElementsAre(4, 7, 9, 1, 3, 2, 6, 0, 8, 5));
  EXPECT_THAT(orderOf(10, 42, 7), ::testing::ElementsAre(2, 7, 6, 5, 8, 3, 4, 0, 1, 9));
  EXPECT_EQ(Permutation(1'000'000).at(123'456, Permutation::keyOf(42, 7)), 18402U);
}

TEST(Permutation, DiffersBetweenSeedsAndEpochs) {
  EXPECT_NE(orderOf(100, 0, 1), orderOf(100, 1, 0));
  EXPECT_NE(orderOf(100, 0, 0), orderOf(100, 0, 1));
}

/// The sum of (seen - expected)^2 / expected: about the number of cases if all are equally likely.
double chiSquare(const std::map<std::vector<std::uint64_t>, int>& seen, double draws, double cases) {
  double sum = (cases - static_cast<double>(seen.size())) * draws / cases;
  for (const auto& [order, times] : seen) {
    const double off = times - draws / cases;
    sum += off * off / (draws / cases);
  }
  return sum;
}

TEST(Permutation, HasAllOrdersOfAFewEquallyOften) {
  const std::map<std::uint64_t, double> limits{
      {3, 20.5}, {4, 49.7}, {5, 173.6}};  // 0.1 % of fair draws exceed them
  for (const auto& [count, limit] : limits) {
    std::map<std::vector<std::uint64_t>, int> seen;
    constexpr int kDraws = 60'000;
    for (std::uint64_t draw = 0; draw < kDraws; ++draw) ++seen[orderOf(count, draw / 7, draw % 7)];
    const double cases = count == 3 ? 6 : count == 4 ? 24 : 120;
    EXPECT_LT(chiSquare(seen, kDraws, cases), limit) << count;
  }
}

TEST(Permutation, PutsWhatWasTogetherAnywhere) {
  constexpr std::uint64_t kCount = 2000;
  const Permutation permutation(kCount);
  std::map<std::vector<std::uint64_t>, int> distances;
  constexpr std::uint64_t kDraws = 200'000;
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    const std::uint64_t key = Permutation::keyOf(draw, 1);
    ++distances[{(permutation.at(1, key) + kCount - permutation.at(0, key)) % kCount / 20}];
  }
  EXPECT_LT(chiSquare(distances, kDraws, 100), 149.5);  // 0.1 % of fair draws exceed it
}

}  // namespace
}  // namespace popdist::io
