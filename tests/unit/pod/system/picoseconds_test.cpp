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

}  // namespace
}  // namespace pop::pod
