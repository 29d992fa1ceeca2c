// SPDX-License-Identifier: Apache-2.0
#include "pod/system/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pop::pod {
namespace {

constexpr Picoseconds kHour = std::chrono::hours(1);

TEST(Units, AmountsAreReadWithAndWithoutABlank) {
  EXPECT_EQ(rateOf("58.4 GB/s").value(), 58'400'000'000U);
  EXPECT_EQ(rateOf("1Gbit/s").value(), 125'000'000U);
  EXPECT_EQ(timeOf("1.5us", kHour).value(), std::chrono::nanoseconds(1500));
  EXPECT_EQ(timeOf("0 s", kHour).value(), Picoseconds(0));
  EXPECT_EQ(bytesOf("64MiB").value(), 64U << 20);
  EXPECT_EQ(bytesOf("0.5 KB").value(), 500U);
}

TEST(Units, ErrorsSayWhatIsWrong) {
  EXPECT_EQ(bytesOf("64").status().message(), "'64' has no unit: add one of B, KB, MB, GB, KiB, MiB, GiB");
  EXPECT_EQ(timeOf("5 min", kHour).status().message(),
            "'min' is no unit for it: use one of ps, ns, us, ms, s");
  EXPECT_EQ(timeOf("soon", kHour).status().message(), "'soon' is no number with a unit, such as '4.5 us'");
  EXPECT_EQ(timeOf("-1 s", kHour).status().message(), "'-1 s' is negative");
  EXPECT_EQ(timeOf("1e300 s", kHour).status().message(), "'1e300 s' is more than 3600 s");
  EXPECT_EQ(rateOf("0.4 B/s").status().message(), "'0.4 B/s' is less than 1 B/s");
  EXPECT_EQ(rateOf("1e9 TB/s").status().message(), "'1e9 TB/s' is more than 1000 TB/s");
  EXPECT_EQ(countOf("0", 8).status().message(), "'0' is no whole number from 1 to 8");
  EXPECT_EQ(positiveOf("0").status().message(), "'0' is no number above 0");
  EXPECT_EQ(numberOf("1x").status().message(), "'1x' is not a number");
}

TEST(Units, PrintedAmountsReadBack) {
  EXPECT_EQ(timeText(std::chrono::microseconds(10)), "10 us");
  EXPECT_EQ(rateText(58'400'000'000), "58.4 GB/s");
  EXPECT_EQ(secondsWithUnit(0.0041461239), "4.14612 ms");
  EXPECT_EQ(secondsWithUnit(-0.5e-6), "-500 ns");
  EXPECT_EQ(secondsWithUnit(0), "0 s");
}

}  // namespace
}  // namespace pop::pod
