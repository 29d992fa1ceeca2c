// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/host_findings.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace pop {
namespace {

popdist::v1::Condition withClock(std::int64_t ms) {
  popdist::v1::Condition condition;
  condition.set_wall_clock_ms(ms);
  return condition;
}

TEST(HostClock, IsTakenAsItIs) {
  constexpr std::int64_t kNextCentury = 4'102'444'800'000;
  for (const std::int64_t ms : {std::int64_t{0}, kNextCentury}) {
    const Result<std::chrono::milliseconds> clock = clockOf(withClock(ms));
    ASSERT_TRUE(clock.ok());
    EXPECT_EQ(clock.value().count(), ms);
  }
}

TEST(HostClock, ThatNoClockShowsIsRefused) {
  using Limits = std::numeric_limits<std::int64_t>;
  for (const std::int64_t ms : {Limits::min(), std::int64_t{-1}, Limits::max()})
    EXPECT_EQ(clockOf(withClock(ms)).code(), Code::kInternal) << ms;
  EXPECT_EQ(clockOf(withClock(-1)).status().message(),
            "its agent reports that the clock there is at -1 ms since 1970, which is impossible");
}

}  // namespace
}  // namespace pop
