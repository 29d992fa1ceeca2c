// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_speed/goals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pop::bench {
namespace {

TimeFigure timeOf(const std::string& contestant, int processes, double median_ms, bool is_peer = false) {
  return {.contestant = contestant,
          .is_peer = is_peer,
          .job_program = "true",
          .processes = processes,
          .wall_ms = summarize({median_ms})};
}

const Goal* find(const std::vector<Goal>& goals, const std::string& text) {
  for (const Goal& goal : goals) {
    if (goal.text == text) return &goal;
  }
  return nullptr;
}

TEST(Goals, FewProcessesAreHeldAgainstHydraOnly) {
  const auto goals = judge({.times = {timeOf("poprun", 2, 3), timeOf("floor", 2, 1), timeOf("floor2", 2, 1),
                                      timeOf("hydra", 2, 6, true)}});
  const Goal* of_hydra = find(goals, "poprun / hydra, true, N = 2");
  ASSERT_NE(of_hydra, nullptr);
  EXPECT_DOUBLE_EQ(of_hydra->value, 0.5);
  EXPECT_TRUE(of_hydra->reached());
  EXPECT_EQ(find(goals, "poprun / better floor, true, N = 2"), nullptr);
}

TEST(Goals, TheBetterFloorCounts) {
  const auto goals =
      judge({.times = {timeOf("poprun", 64, 30), timeOf("floor", 64, 25), timeOf("floor2", 64, 20)}});
  const Goal* of_floor = find(goals, "poprun / better floor, true, N = 64");
  ASSERT_NE(of_floor, nullptr);
  EXPECT_DOUBLE_EQ(of_floor->value, 1.5);
  EXPECT_FALSE(of_floor->reached());
}

TEST(Goals, TheFastestPeerCounts) {
  const auto goals = judge(
      {.times = {timeOf("poprun", 32, 20), timeOf("hydra", 32, 30, true), timeOf("openmpi", 32, 10, true)}});
  const Goal* of_peer = find(goals, "poprun / fastest peer (openmpi), true, N = 32");
  ASSERT_NE(of_peer, nullptr);
  EXPECT_FALSE(of_peer->reached());
}

TEST(Goals, APeerOfWhichNoRunEndedIsNoYardstick) {
  TimeFigure hung = timeOf("hydra", 1, 1, true);
  hung.wall_ms = {};
  EXPECT_TRUE(judge({.times = {timeOf("poprun", 1, 5), hung}}).empty());
}

TEST(Goals, FiguresOfABusyMachineAreMarked) {
  TimeFigure hydra = timeOf("hydra", 1, 4, true);
  EXPECT_FALSE(judge({.times = {timeOf("poprun", 1, 2), hydra}}).front().is_noisy);
  hydra.not_quiet = 1;
  EXPECT_TRUE(judge({.times = {timeOf("poprun", 1, 2), hydra}}).front().is_noisy);
}

TEST(Goals, RateIsReachedFromBelow) {
  EXPECT_FALSE(judge({.rates = {{"poprun", 299}}}).front().reached());
  EXPECT_TRUE(judge({.rates = {{"poprun", 300}}}).front().reached());
  EXPECT_TRUE(judge({.rates = {{"hydra", 10}}}).empty());
}

TEST(Goals, ARateOfABusyMachineIsMarked) {
  EXPECT_FALSE(judge({.rates = {{.contestant = "poprun", .jobs_per_s = 300}}}).front().is_noisy);
  EXPECT_TRUE(judge({.rates = {{.contestant = "poprun", .jobs_per_s = 300, .mostly_not_quiet = true}}})
                  .front()
                  .is_noisy);
}

TEST(Goals, MemoryIsInMillionsOfBytes) {
  const auto goals = judge({.memory = {{"poprun", 2, 7812, 7813}}});  // 7812.5 KiB are 8 MB
  ASSERT_EQ(goals.size(), 2U);
  EXPECT_TRUE(goals[0].reached());
  EXPECT_FALSE(goals[1].reached());
}

}  // namespace
}  // namespace pop::bench
