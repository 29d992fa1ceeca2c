// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_hosts/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/launch_hosts/report.h"

namespace pop::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TimeFigure figure(const std::string& contestant, bool is_peer, int hosts, double wall_ms, double cpu_ms = 0) {
  return {.contestant = contestant,
          .is_peer = is_peer,
          .job_program = "1 per host",
          .processes = hosts,
          .wall_ms = summarize({wall_ms}),
          .cpu_ms = summarize({cpu_ms})};
}

TEST(ControllerCost, IsALineThroughWhatWasMeasured) {
  const auto cost = controllerCost({figure("poprun", false, 8, 1, 26), figure("poprun", false, 16, 1, 42),
                                    figure("poprun", false, 32, 1, 74)});
  ASSERT_TRUE(cost.has_value());
  EXPECT_NEAR(cost->fixed_ms, 10, 1e-9);
  EXPECT_NEAR(cost->per_host_ms, 2, 1e-9);
  EXPECT_NEAR(cost->of(1000), 2010, 1e-9);
}

TEST(ControllerCost, NeedsTwoNumbersOfHosts) {
  EXPECT_FALSE(controllerCost({}).has_value());
  EXPECT_FALSE(controllerCost({figure("poprun", false, 8, 1, 26)}).has_value());
}

TEST(HostGoals, HoldPoprunAgainstTheLimitOfSshAndAgainstTheFastestPeer) {
  HostFigures figures;
  figures.times = {figure("poprun", false, 32, 600), figure("ssh-curve25519", false, 32, 480),
                   figure("hydra", true, 32, 1500), figure("pdsh", true, 32, 500)};
  const std::vector<Goal> goals = judge(figures);
  ASSERT_EQ(goals.size(), 2U);
  EXPECT_EQ(goals[0].text, "poprun / ssh-curve25519, 32 hosts");
  EXPECT_DOUBLE_EQ(goals[0].value, 1.25);
  EXPECT_FALSE(goals[0].reached());
  EXPECT_EQ(goals[1].text, "poprun / pdsh, 32 hosts");
  EXPECT_FALSE(goals[1].reached());
}

TEST(HostGoals, HoldTheServiceAgainstTimes) {
  HostFigures figures;
  figures.times = {figure("poprun-service", false, 8, 500), figure("poprun-service", false, 32, 29),
                   figure("poprun-service", false, 32, 131), figure("tcp-floor", false, 32, 15)};
  figures.times[2].job_program = "8 per host";
  const std::vector<Goal> goals = judge(figures);
  ASSERT_EQ(goals.size(), 2U);
  EXPECT_EQ(goals[0].text, "poprun-service, 32 hosts, 1 per host");
  EXPECT_TRUE(goals[0].reached());
  EXPECT_EQ(goals[1].text, "poprun-service, 32 hosts, 8 per host");
  EXPECT_FALSE(goals[1].reached());
}

TEST(HostGoals, AreForFencesAndMemoryOfEachWayToTheHosts) {
  HostFigures figures;
  figures.fences = {{"poprun", 32, 128, summarize({6}), false},
                    {"poprun-service", 32, 128, summarize({4}), true}};
  figures.memory = {{"poprun", 32, 128, 3'000, 2'000, 30'000},
                    {"poprun-service", 32, 128, 15'000, 2'000, 30'000, 14'000}};
  const std::vector<Goal> goals = judge(figures);
  ASSERT_EQ(goals.size(), 5U) << "there is no service over SSH";
  EXPECT_FALSE(goals[0].reached());
  EXPECT_EQ(goals[1].text, "poprun-service, fence of 128 instances on 32 hosts");
  EXPECT_TRUE(goals[1].reached());
  EXPECT_TRUE(goals[1].is_noisy);
  EXPECT_TRUE(goals[2].reached());
  EXPECT_FALSE(goals[3].reached()) << "15,000 KiB are more than 15 MB";
  EXPECT_EQ(goals[4].text, "poprun-service, peak memory of the agent service");
  EXPECT_TRUE(goals[4].reached());
}

TEST(HostGoals, AreNotJudgedWithoutFigures) {
  EXPECT_THAT(judge(HostFigures{}), IsEmpty());
}

TEST(HostReport, HasARowForEachContestantAndAColumnForEachNumberOfHosts) {
  HostFigures figures;
  figures.times = {figure("poprun", false, 1, 100), figure("hydra", true, 1, 200),
                   figure("poprun", false, 8, 300), figure("hydra", true, 8, 300)};
  const std::string text = inWords(figures, {});
  EXPECT_THAT(text, HasSubstr("| hydra  |        200 |        0.50 |         300 |        1.00 |"));
}

}  // namespace
}  // namespace pop::bench
