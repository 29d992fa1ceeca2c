// SPDX-License-Identifier: Apache-2.0
// The sequences are part of what users see: a data set is shuffled the same way on every machine and in every
// release. So they are compared with golden values, not only with themselves.
#include "common/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

namespace pop {
namespace {

template <std::size_t N>
std::array<int, N> shuffledIndices(std::uint64_t seed) {
  std::array<int, N> items{};
  std::iota(items.begin(), items.end(), 0);
  SplitMix64 random(seed);
  shuffle(std::span<int>(items), random);
  return items;
}

TEST(SplitMix64, GivesThePublishedSequence) {
  SplitMix64 random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317ULL);
  EXPECT_EQ(random.next(), 3203168211198807973ULL);
  EXPECT_EQ(random.next(), 9817491932198370423ULL);
  EXPECT_EQ(random.next(), 4593380528125082431ULL);
  EXPECT_EQ(random.next(), 16408922859458223821ULL);
}

TEST(SplitMix64, BelowStaysBelowAndReachesEveryValue) {
  SplitMix64 random(7);
  std::array<int, 6> seen{};
  for (int draw = 0; draw < 6000; ++draw) {
    const std::uint64_t value = random.below(6);
    ASSERT_LT(value, 6U);
    ++seen[value];
  }
  for (const int count : seen) EXPECT_NEAR(count, 1000, 150);
}

TEST(SplitMix64, BelowRejectsTheIncompleteLastInterval) {
  // With this bound three draws in eight lie in the last, incomplete interval. Taken modulo, most of them
  // would land in the lower half of the values, and leave the upper one with 750 of 2000.
  constexpr std::uint64_t kBound = (1ULL << 63) + (1ULL << 61);
  SplitMix64 random(11);
  int upper_half = 0;
  for (int draw = 0; draw < 2000; ++draw) {
    const std::uint64_t value = random.below(kBound);
    ASSERT_LT(value, kBound);
    if (value >= kBound / 2) ++upper_half;
  }
  EXPECT_NEAR(upper_half, 1000, 120);
}

TEST(SplitMix64, UnitStaysInItsHalfOpenInterval) {
  SplitMix64 random(3);
  double sum = 0;
  for (int draw = 0; draw < 4000; ++draw) {
    const double value = random.unit();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
  }
  EXPECT_NEAR(sum / 4000, 0.5, 0.03);
}

TEST(Shuffle, GivesTheSameOrderAsEver) {
  EXPECT_EQ(shuffledIndices<10>(1), (std::array<int, 10>{4, 2, 8, 1, 9, 3, 0, 6, 7, 5}));
  EXPECT_EQ(shuffledIndices<10>(42), (std::array<int, 10>{0, 9, 5, 8, 6, 4, 7, 2, 1, 3}));
}

TEST(Shuffle, IsAPermutation) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::array<int, 257> items = shuffledIndices<257>(seed);
    std::sort(items.begin(), items.end());
    for (int index = 0; index < 257; ++index) ASSERT_EQ(items[static_cast<std::size_t>(index)], index);
  }
}

TEST(Shuffle, GivesEveryPermutationEquallyOften) {
  std::array<int, 6> seen{};
  SplitMix64 random(5);
  for (int round = 0; round < 6000; ++round) {
    std::array<int, 3> items{0, 1, 2};
    shuffle(std::span<int>(items), random);
    ++seen[static_cast<std::size_t>(items[0] * 2 + (items[1] > items[2] ? 1 : 0))];
  }
  for (const int count : seen) EXPECT_NEAR(count, 1000, 150);
}

TEST(Shuffle, LeavesNothingAndASingleItemAlone) {
  SplitMix64 random(1);
  std::vector<int> none;
  shuffle(std::span<int>(none), random);
  std::array<int, 1> one{9};
  shuffle(std::span<int>(one), random);
  EXPECT_EQ(one[0], 9);
  EXPECT_EQ(random.next(), SplitMix64(1).next()) << "a shuffle of less than two items draws nothing";
}

}  // namespace
}  // namespace pop
