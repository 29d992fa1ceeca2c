// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <future>
#include <limits>
#include <thread>
#include <type_traits>

#include "popdist/denormals.hpp"

namespace popdist {
namespace {

constexpr float kSmallestNormal = std::numeric_limits<float>::min();
constexpr float kDenormal = kSmallestNormal / 4;

// Computed when the test runs: a compiler does not know of the guard.
template <typename T>
T product(T left, T right) {
  const volatile T left_now = left;
  const volatile T right_now = right;
  return left_now * right_now;
}

// By its bits: with the guard a denormal compares equal to zero, too.
bool isZero(float value) {
  return std::bit_cast<std::uint32_t>(value) == 0;
}
bool isZero(double value) {
  return std::bit_cast<std::uint64_t>(value) == 0;
}

bool isFlushingResults() {
  return isZero(product(kSmallestNormal, 0.5F));
}
// Their product would be normal.
bool isFlushingOperands() {
  return isZero(product(kDenormal, 16.0F));
}

class FlushDenormalsTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(FlushDenormals::isSupported()) << "for x86-64 only"; }
};

TEST_F(FlushDenormalsTest, MakesZerosOfDenormalResultsAndOperands) {
  ASSERT_FALSE(isFlushingResults());
  ASSERT_FALSE(isFlushingOperands());
  const FlushDenormals flush;
  EXPECT_TRUE(isFlushingResults());
  EXPECT_TRUE(isFlushingOperands());
  EXPECT_TRUE(isZero(product(std::numeric_limits<double>::min(), 0.5)));
  EXPECT_TRUE(std::signbit(product(-kSmallestNormal, 0.5F))) << "zero keeps the sign";
  EXPECT_EQ(product(kSmallestNormal, 2.0F), 2 * kSmallestNormal) << "what is normal stays";
}

TEST_F(FlushDenormalsTest, EndsWithTheGuard) {
  { const FlushDenormals flush; }
  EXPECT_FALSE(isFlushingResults());
  EXPECT_FALSE(isFlushingOperands());
}

TEST_F(FlushDenormalsTest, EndsWithTheOutermostGuard) {
  const FlushDenormals outer;
  { const FlushDenormals inner; }
  EXPECT_TRUE(isFlushingResults());
  EXPECT_TRUE(isFlushingOperands());
}

TEST_F(FlushDenormalsTest, LeavesRoundingAndFlagsToOthers) {
  std::feclearexcept(FE_ALL_EXCEPT);
  {
    const FlushDenormals flush;
    std::fesetround(FE_UPWARD);
    product(std::numeric_limits<float>::max(), 2.0F);
  }
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  EXPECT_NE(std::fetestexcept(FE_OVERFLOW), 0);
  std::fesetround(FE_TONEAREST);
  std::feclearexcept(FE_ALL_EXCEPT);
}

TEST_F(FlushDenormalsTest, IsOfOneThreadAndOfThoseThatItStarts) {
  bool in_older = true;
  bool in_newer = false;
  std::promise<void> guarded;
  std::thread older([&] {
    guarded.get_future().wait();
    in_older = isFlushingResults();
  });
  {
    const FlushDenormals flush;
    std::thread([&] { in_newer = isFlushingResults(); }).join();
    guarded.set_value();
    older.join();
  }
  EXPECT_FALSE(in_older);
  EXPECT_TRUE(in_newer);
}

// What the guard is for: 0.9 times the smallest denormal is itself.
TEST_F(FlushDenormalsTest, LetsADecayEndAtZero) {
  const auto decayed = [] {
    float velocity = 1;
    for (int step = 0; step < 2000; ++step) velocity = product(velocity, 0.9F);
    return velocity;
  };
  EXPECT_FALSE(isZero(decayed()));
  const FlushDenormals flush;
  EXPECT_TRUE(isZero(decayed()));
}

static_assert(!std::is_copy_constructible_v<FlushDenormals> && !std::is_move_constructible_v<FlushDenormals>);

}  // namespace
}  // namespace popdist
