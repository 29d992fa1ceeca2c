// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_speed/figures.h"

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
  hydra.runs.not_quiet = 1;
  EXPECT_TRUE(judge({.times = {timeOf("poprun", 1, 2), hydra}}).front().is_noisy);
}

std::vector<Goal> judgeFigure(Figure figure) {
  return judge(Figures{.times = {}, .others = {std::move(figure)}});
}

TEST(Goals, RateIsReachedFromBelow) {
  EXPECT_FALSE(judgeFigure({"rate", "poprun", "jobs", "jobs/s", summarize({299})}).front().reached());
  EXPECT_TRUE(judgeFigure({"rate", "poprun", "jobs", "jobs/s", summarize({300})}).front().reached());
  EXPECT_TRUE(judgeFigure({"rate", "hydra", "jobs", "jobs/s", summarize({10})}).empty());
}

TEST(Goals, ARateOfABusyMachineIsMarked) {
  EXPECT_FALSE(judgeFigure({"rate", "poprun", "jobs", "jobs/s", summarize({300})}).front().is_noisy);
  EXPECT_TRUE(judgeFigure({"rate", "poprun", "jobs", "jobs/s", summarize({300}), true}).front().is_noisy);
}

TEST(Goals, MemoryIsInMillionsOfBytes) {
  const auto of = [](std::int64_t kib) {
    return Figure{"memory, N = 2", "poprun", "largest process", "MB", summarize({megabytes(kib)})};
  };
  EXPECT_TRUE(judgeFigure(of(7812)).front().reached());
  EXPECT_FALSE(judgeFigure(of(7813)).front().reached()) << "7812.5 KiB are 8 MB";
}

TEST(Goals, AProgramOfOpenMpiShallStartSoonerThanByItsOwnLauncher) {
  TimeFigure ours = timeOf("poprun", 2, 70), theirs = timeOf("openmpi", 2, 100, true);
  ours.job_program = theirs.job_program = "openmpi";
  const auto goals = judge({.times = {ours, theirs}});
  ASSERT_EQ(goals.size(), 1U);
  EXPECT_EQ(goals[0].text, "openmpi - poprun, openmpi, N = 2");
  EXPECT_DOUBLE_EQ(goals[0].value, 30);
  EXPECT_TRUE(goals[0].reached());
  EXPECT_EQ(goals[0].unit, "ms");
}

}  // namespace
}  // namespace pop::bench
