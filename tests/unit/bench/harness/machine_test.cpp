// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/machine.h"

#include <gtest/gtest.h>

namespace pop::bench {
namespace {

TEST(CpuTimes, AreReadFromTheFirstLineOfProcStat) {
  const Result<CpuTimes> times = parseCpuTimes("cpu  10 1 20 300 40 2 3 7 5 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n");
  ASSERT_TRUE(times.ok());
  EXPECT_EQ(times.value().busy, 10 + 1 + 20 + 2 + 3);
  EXPECT_EQ(times.value().idle, 300 + 40);
  EXPECT_EQ(times.value().steal, 7);
}

TEST(CpuTimes, OfAnotherFormAreAnError) {
  EXPECT_FALSE(parseCpuTimes("intr 1 2 3 4 5 6 7 8 9").ok());
  EXPECT_FALSE(parseCpuTimes("cpu 1 2 3").ok());
  EXPECT_FALSE(parseCpuTimes("").ok());
}

TEST(CpuTimes, StolenTimeIsNotIdle) {
  const CpuTimes earlier{.busy = 100, .idle = 100, .steal = 100};
  const CpuTimes later{.busy = 110, .idle = 180, .steal = 110};
  EXPECT_DOUBLE_EQ(later.since(earlier).idleFraction(), 0.8);
}

TEST(CpuTimes, ASpanWithoutATickIsIdle) {
  EXPECT_DOUBLE_EQ(CpuTimes{}.idleFraction(), 1.0);
}

TEST(Machine, SaysWhatItIs) {
  const Machine machine = describeMachine();
  EXPECT_GT(machine.cores, 0);
  EXPECT_GT(machine.memory_gb, 0);
  EXPECT_TRUE(machine.kernel.starts_with("Linux ")) << machine.kernel;
}

}  // namespace
}  // namespace pop::bench
