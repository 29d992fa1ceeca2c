// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/peak_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pop::bench {
namespace {

Result<std::vector<ProcessPeak>> trace(const std::string& script,
                                       std::chrono::milliseconds time_limit = std::chrono::seconds(30)) {
  return tracePeakMemory({.argv = {"/bin/sh", "-c", script}, .time_limit = time_limit});
}

std::int64_t peakOf(const std::vector<ProcessPeak>& peaks, const std::string& name) {
  for (const ProcessPeak& peak : peaks) {
    if (peak.name == name) return peak.peak_kib;
  }
  return -1;
}

TEST(PeakMemory, EveryProcessHasItsOwn) {
  ASSERT_TRUE(adoptOrphans().ok());
  // dd holds one block in memory, the shell does not.
  const auto peaks = trace("dd if=/dev/zero of=/dev/null bs=64M count=1 2>/dev/null; true");
  ASSERT_TRUE(peaks.ok()) << peaks.status().message();
  EXPECT_GT(peakOf(peaks.value(), "dd"), 64 * 1024);
  EXPECT_GT(peakOf(peaks.value(), "sh"), 0);
  EXPECT_LT(peakOf(peaks.value(), "sh"), 32 * 1024);
}

TEST(PeakMemory, ItsTracerIsNotPartOfIt) {
  ASSERT_TRUE(adoptOrphans().ok());
  const std::string ours(64 << 20, 'x');  // ru_maxrss of a child would show this
  const auto peaks = trace("exit 0");
  ASSERT_TRUE(peaks.ok()) << peaks.status().message();
  ASSERT_EQ(peaks.value().size(), 1U);
  EXPECT_LT(peaks.value().front().peak_kib, static_cast<std::int64_t>(ours.size() / 1024 / 2));
}

TEST(PeakMemory, ASignalReachesTheProcessItIsMeantFor) {
  ASSERT_TRUE(adoptOrphans().ok());
  EXPECT_TRUE(trace("trap 'exit 0' USR1; kill -USR1 $$; exit 1").ok());
}

TEST(PeakMemory, WhatDoesNotEndIsEnded) {
  ASSERT_TRUE(adoptOrphans().ok());
  const auto peaks = trace("sleep 1000", std::chrono::milliseconds(200));
  EXPECT_EQ(peaks.code(), Code::kDeadlineExceeded);
}

TEST(PeakMemory, OfACommandThatFailsIsNotTold) {
  ASSERT_TRUE(adoptOrphans().ok());
  EXPECT_EQ(trace("exit 1").code(), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace pop::bench
