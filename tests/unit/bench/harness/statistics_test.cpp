// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/statistics.h"

#include <gtest/gtest.h>

namespace pop::bench {
namespace {

TEST(Quantile, OfAnOddSampleIsItsMiddleWhateverTheOrder) {
  EXPECT_DOUBLE_EQ(quantile({9, 1, 5}, 0.5), 5);
}

TEST(Quantile, BetweenTwoValuesIsLinear) {
  EXPECT_DOUBLE_EQ(quantile({1, 2, 10, 20}, 0.5), 6);
  EXPECT_DOUBLE_EQ(quantile({0, 10}, 0.25), 2.5);
}

TEST(Quantile, AtTheEndsIsTheSmallestAndTheLargest) {
  EXPECT_DOUBLE_EQ(quantile({3, -1, 7}, 0), -1);
  EXPECT_DOUBLE_EQ(quantile({3, -1, 7}, 1), 7);
}

TEST(Summarize, OneOutlierDoesNotMoveTheMedian) {
  const Summary summary = summarize({1, 2, 3, 4, 1000});
  EXPECT_EQ(summary.count, 5U);
  EXPECT_DOUBLE_EQ(summary.median, 3);
  EXPECT_DOUBLE_EQ(summary.lower_quartile, 2);
  EXPECT_DOUBLE_EQ(summary.upper_quartile, 4);
  EXPECT_DOUBLE_EQ(summary.max, 1000);
}

TEST(Summarize, NothingMeasuredCountsZero) {
  EXPECT_EQ(summarize({}).count, 0U);
}

}  // namespace
}  // namespace pop::bench
