// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives_speed/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pop::bench::collectives {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kMebi = 1 << 20;

Cell cellOf(int ranks, std::size_t bytes, Operation operation = Operation::kAllReduce) {
  return {operation, popdist::Type::kFloat, ranks, bytes};
}

TimeFigure timeOf(const Cell& cell, const std::string& contestant, double median_us,
                  Family family = Family::kOurs) {
  return {.cell = cell,
          .contestant = contestant,
          .family = family,
          .us = summarize({median_us}),
          .runs = {.good = 1}};
}

const Goal* find(const std::vector<Goal>& goals, const std::string& text) {
  for (const Goal& goal : goals) {
    if (goal.text == text) return &goal;
  }
  return nullptr;
}

TEST(CollectiveGoals, TheFastestMpiInSharedMemoryIsTheRival) {
  const Cell cell = cellOf(2, kMebi);
  const auto goals =
      judge({.times = {timeOf(cell, "private", 40), timeOf(cell, "openmpi", 90, Family::kOpenMpi),
                       timeOf(cell, "mpich", 80, Family::kMpich),
                       timeOf(cell, "openmpi-tcp", 10, Family::kOpenMpiTcp)}});
  const Goal* goal = find(goals, "all-reduce, 2 ranks, 1 MiB: mpich / private");
  ASSERT_NE(goal, nullptr);
  EXPECT_DOUBLE_EQ(goal->value, 2);
  EXPECT_DOUBLE_EQ(goal->limit, 2.4);
  EXPECT_FALSE(goal->reached());
  EXPECT_EQ(goals.size(), 1U);
}

TEST(CollectiveGoals, OverTcpOnlyThoseOverTcpAreRivals) {
  const Cell cell = cellOf(4, 65536);
  const auto goals = judge({.times = {timeOf(cell, "tcp", 50), timeOf(cell, "openmpi", 1, Family::kOpenMpi),
                                      timeOf(cell, "openmpi-tcp", 100, Family::kOpenMpiTcp),
                                      timeOf(cell, "gloo-bcube", 120, Family::kGloo)}});
  ASSERT_EQ(goals.size(), 2U);
  EXPECT_TRUE(goals[0].reached());  // 2 of 1.75
  EXPECT_EQ(goals[1].text, "all-reduce, 4 ranks, 64 KiB: gloo-bcube / tcp");
}

TEST(CollectiveGoals, SizesBetweenTheTablesHaveTheGoalsOfRangesOnly) {
  const Cell cell = cellOf(2, 2 * kMebi), crowded = cellOf(4, 2 * kMebi);
  const auto goals =
      judge({.times = {timeOf(cell, "private", 40), timeOf(cell, "mpich", 80, Family::kMpich),
                       timeOf(crowded, "private", 40), timeOf(crowded, "mpich", 80, Family::kMpich)}});
  ASSERT_EQ(goals.size(), 1U);
  EXPECT_EQ(goals[0].text, "all-reduce, 4 ranks, 2 MiB: mpich / private");
}

TEST(CollectiveGoals, TimesAreHeldAgainstTheYardstickOfTheirCell) {
  const Cell cell = cellOf(2, kMebi);
  const auto goals =
      judge({.times = {timeOf(cell, "private", 40), timeOf(cell, "shared", 10)},
             .limits = {{.cell = cell, .cores = 2, .copy_where_data_is = 240, .copy_in_shared_cache = 110}}});
  const Goal* of_private = find(goals, "all-reduce, 2 ranks, 1 MiB: yardstick / private");
  const Goal* of_shared = find(goals, "all-reduce, 2 ranks, 1 MiB: yardstick / shared");
  ASSERT_TRUE(of_private != nullptr && of_shared != nullptr);
  EXPECT_FALSE(of_private->reached());  // 27.8 / 40
  EXPECT_TRUE(of_shared->reached());    // 8.7 / 10
}

TEST(CollectiveGoals, WhatIsFasterThanItsYardstickIsMarked) {
  const Cell cell = cellOf(2, kMebi);
  const CellLimits limits{
      .cell = cell, .cores = 2, .copy_where_data_is = 240, .copy_in_shared_cache = 110};  // T_heap: 8.7 us
  const auto slower = judge({.times = {timeOf(cell, "shared", 10)}, .limits = {limits}});
  EXPECT_TRUE(slower.front().reached());
  EXPECT_FALSE(slower.front().beyond_yardstick);
  const auto faster = judge({.times = {timeOf(cell, "shared", 8)}, .limits = {limits}});
  EXPECT_TRUE(faster.front().beyond_yardstick);
  EXPECT_THAT(goalTable(faster), HasSubstr("yes, beyond the yardstick"));
}

TEST(CollectiveGoals, ShortFloatsAreHeldAgainstAsManyBytesOfFloat) {
  const Cell floats = cellOf(2, 16 * kMebi);
  Cell halves = floats;
  halves.type = popdist::Type::kHalf;
  const auto goals = judge({.times = {timeOf(floats, "private", 100), timeOf(halves, "private", 120)}});
  ASSERT_EQ(goals.size(), 1U);
  EXPECT_EQ(goals[0].text, "all-reduce of half, 2 ranks, 16 MiB: private / float");
  EXPECT_FALSE(goals[0].reached());
}

TEST(CollectiveGoals, BroadcastsOfWeightsAreRates) {
  const Cell pair = cellOf(2, 128 * kMebi, Operation::kBroadcast),
             four = cellOf(4, 128 * kMebi, Operation::kBroadcast);
  const auto goals = judge({.times = {timeOf(pair, "shared", 134'217.728),
                                      timeOf(four, "shared", 13'421.7728), timeOf(pair, "tcp", 134'217.728)},
                            .limits = {{.cell = pair, .cores = 2, .tcp_stream = 2}}});
  EXPECT_NEAR(find(goals, "broadcast, 2 ranks, 128 MiB: shared")->value, 1, 1e-9);
  EXPECT_NEAR(find(goals, "broadcast, 4 ranks, 128 MiB: shared")->value, 30, 1e-9);
  EXPECT_NEAR(find(goals, "broadcast, 2 ranks, 128 MiB: tcp / raw stream")->value, 0.5, 1e-9);
}

TEST(CollectiveGoals, WithoutARivalThatRanThereIsNoGoal) {
  const Cell cell = cellOf(2, kMebi);
  TimeFigure hung = timeOf(cell, "mpich", 1, Family::kMpich);
  hung.us = {};
  EXPECT_TRUE(judge({.times = {timeOf(cell, "private", 40), hung}}).empty());
}

TEST(CollectiveGoals, FiguresOfABusyMachineAreMarked) {
  const Cell cell = cellOf(2, kMebi);
  TimeFigure mpich = timeOf(cell, "mpich", 80, Family::kMpich);
  EXPECT_FALSE(judge({.times = {timeOf(cell, "private", 40), mpich}}).front().is_noisy);
  mpich.runs.not_quiet = 1;
  EXPECT_TRUE(judge({.times = {timeOf(cell, "private", 40), mpich}}).front().is_noisy);
}

}  // namespace
}  // namespace pop::bench::collectives
