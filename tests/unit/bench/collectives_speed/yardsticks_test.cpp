// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives_speed/yardsticks.h"

#include <gtest/gtest.h>

namespace pop::bench::collectives {
namespace {

constexpr std::size_t kMebibyte = 1 << 20;
constexpr Caches kCaches{.private_of_core = kMebibyte, .shared = 32 * kMebibyte};

Cell allReduceOf(int ranks, std::size_t bytes) {
  return {Operation::kAllReduce, popdist::Type::kFloat, ranks, bytes};
}

TEST(Yardsticks, CopiesAreMeasuredWhereTheDataLives) {
  EXPECT_EQ(copyBytes(allReduceOf(2, kMebibyte), kCaches, 2), kMebibyte / 4);  // 2 MiB: the cores' own caches
  EXPECT_EQ(copyBytes(allReduceOf(4, kMebibyte), kCaches, 2), 4 * kMebibyte);  // 4 MiB: the shared one
  EXPECT_EQ(copyBytes(allReduceOf(2, 16 * kMebibyte), kCaches, 2), 4 * kMebibyte);    // 32 MiB: just
  EXPECT_EQ(copyBytes(allReduceOf(4, 16 * kMebibyte), kCaches, 2), 128 * kMebibyte);  // 64 MiB: memory
}

// The published examples: 2 ranks, 1 MiB, 240 and 110 GB/s.
TEST(Yardsticks, TimesFollowTheFormulas) {
  CellLimits limits{
      .cell = allReduceOf(2, kMebibyte), .cores = 2, .copy_where_data_is = 240, .copy_in_shared_cache = 110};
  EXPECT_NEAR(limits.sharedMemoryUs().value(), 8.7, 0.05);
  EXPECT_NEAR(limits.privateMemoryUs().value(), 27.8, 0.05);
  limits.tcp_duplex = 3.5;
  limits.cell = allReduceOf(2, 128 * kMebibyte);
  EXPECT_NEAR(limits.tcpUs().value(), 38'300, 100);
}

TEST(Yardsticks, CrowdedRanksTakeTurns) {
  CellLimits limits{.cell = allReduceOf(2, 8), .cores = 2, .flag = 0.06, .yield = 1.2};
  EXPECT_DOUBLE_EQ(limits.smallUs().value(), 0.06);
  limits.cell = allReduceOf(8, 8);
  EXPECT_DOUBLE_EQ(limits.smallUs().value(), 4.8);
}

TEST(Yardsticks, WhatIsNotMeasuredIsNoYardstick) {
  const CellLimits limits{.cell = allReduceOf(2, 8), .cores = 2};
  EXPECT_FALSE(limits.sharedMemoryUs() || limits.privateMemoryUs() || limits.tcpUs() || limits.smallUs());
}

}  // namespace
}  // namespace pop::bench::collectives
