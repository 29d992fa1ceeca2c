// SPDX-License-Identifier: Apache-2.0
#include "pod/system/picoseconds.h"

#include <gtest/gtest.h>

namespace pop::pod {
namespace {

TEST(TransferTime, IsExactWhenItIsAWholeNumberOfPicoseconds) {
  EXPECT_EQ(transferTime(12'500'000'000, 12'500'000'000), std::chrono::seconds(1));
  EXPECT_EQ(transferTime(12'500, 12'500'000'000), std::chrono::microseconds(1));
  EXPECT_EQ(transferTime(1, 12'500'000'000), Picoseconds(80));
  EXPECT_EQ(transferTime(0, 12'500'000'000), Picoseconds(0));
}

TEST(TransferTime, RoundsUp) {
  EXPECT_EQ(transferTime(1, 3'000'000'000'000), Picoseconds(1));
  EXPECT_EQ(transferTime(10, 3'000'000'000'000), Picoseconds(4));
  EXPECT_EQ(transferTime(1, 3), Picoseconds(333'333'333'334));
}

TEST(TransferTime, DoesNotOverflowForTerabytes) {
  EXPECT_EQ(transferTime(std::uint64_t{1} << 50, std::uint64_t{1} << 30), std::chrono::seconds(1 << 20));
}

TEST(TransferTime, EndsAtTheLongestTime) {
  EXPECT_EQ(transferTime(4'611'686, 1), std::chrono::seconds(4'611'686));
  for (const std::uint64_t bytes : {4'611'687'000'000ULL, 1'000'000'000'000'000ULL, ~0ULL})
    EXPECT_EQ(transferTime(bytes, 1), kLongestTime) << bytes;
  EXPECT_EQ(transferTime(kMostCounted, 1'000'000'000'000'000), kLongestTime) << "some may be missing";
}

TEST(TransferTime, IsExactForTheFastestLinks) {
  EXPECT_EQ(transferTime(500'000'000'000'000, 1'000'000'000'000'000), std::chrono::milliseconds(500));
  EXPECT_EQ(transferTime(9'999'999'999'999'999, 10'000'000'000'000'000), std::chrono::seconds(1));
}

TEST(Picoseconds, EndAtTheLongestTime) {
  EXPECT_EQ(sumOf(kLongestTime, kLongestTime), kLongestTime);
  EXPECT_EQ(sumOf(kLongestTime - Picoseconds(1), Picoseconds(1)), kLongestTime);
  EXPECT_EQ(sumOf(Picoseconds(1), Picoseconds(2)), Picoseconds(3));
  EXPECT_EQ(productOf(std::chrono::hours(1), 65'536), kLongestTime);
  EXPECT_EQ(productOf(kLongestTime, 4), kLongestTime) << "2^64";
  EXPECT_EQ(productOf(std::chrono::hours(1), 1000), std::chrono::hours(1000));
}

}  // namespace
}  // namespace pop::pod
