// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/launch_hosts/measure.h"

namespace pop::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TimeFigure figure(const std::string& contestant, bool is_peer, int hosts, double wall_ms) {
  return {.contestant = contestant,
          .is_peer = is_peer,
          .job_program = "1 per host",
          .processes = hosts,
          .wall_ms = summarize({wall_ms})};
}

TEST(ControllerCost, IsALineThroughWhatWasMeasured) {
  const auto cost = controllerCost({{8, 26}, {16, 42}, {32, 74}});
  ASSERT_TRUE(cost.has_value());
  EXPECT_NEAR(cost->fixed_ms, 10, 1e-9);
  EXPECT_NEAR(cost->per_host_ms, 2, 1e-9);
}

TEST(ControllerCost, NeedsTwoNumbersOfHosts) {
  EXPECT_FALSE(controllerCost({}).has_value());
  EXPECT_FALSE(controllerCost({{8, 26}}).has_value());
}

TEST(HostGoals, HoldPoprunAgainstTheLimitOfSshAndAgainstTheFastestPeer) {
  Figures figures;
  figures.times = {figure("poprun", false, 32, 600), figure("ssh-curve25519", false, 32, 480),
                   figure("hydra", true, 32, 1500), figure("pdsh", true, 32, 500)};
  const std::vector<Goal> goals = judge(figures);
  ASSERT_EQ(goals.size(), 2U);
  EXPECT_EQ(goals[0].text, "poprun / ssh-curve25519, 1 per host, N = 32");
  EXPECT_DOUBLE_EQ(goals[0].value, 1.25);
  EXPECT_FALSE(goals[0].reached());
  EXPECT_EQ(goals[1].text, "poprun / fastest peer (pdsh), 1 per host, N = 32");
  EXPECT_FALSE(goals[1].reached());
}

TEST(HostGoals, HoldTheServiceAgainstTimes) {
  Figures figures;
  figures.times = {figure("poprun-service", false, 8, 500), figure("poprun-service", false, 32, 29),
                   figure("poprun-service", false, 32, 131), figure("tcp-floor", false, 32, 15)};
  figures.times[2].job_program = "8 per host";
  const std::vector<Goal> goals = judge(figures);
  ASSERT_EQ(goals.size(), 2U);
  EXPECT_EQ(goals[0].text, "poprun-service, 1 per host, N = 32");
  EXPECT_TRUE(goals[0].reached());
  EXPECT_EQ(goals[1].text, "poprun-service, 8 per host, N = 32");
  EXPECT_FALSE(goals[1].reached());
}

TEST(HostGoals, AreForFencesAndMemoryOfEachWayToTheHosts) {
  Figures figures;
  const auto memory = [](const char* contestant, const char* what, std::int64_t kib) {
    return Figure{"memory over hosts", contestant, what, "MB", summarize({megabytes(kib)})};
  };
  figures.others = {{"fence", "poprun", "128 instances on 32 hosts", "ms", summarize({6})},
                    {"fence", "poprun-service", "128 instances on 32 hosts", "ms", summarize({4}), true},
                    memory("poprun", "agent", 3'000),
                    memory("poprun", "controller", 30'000),
                    memory("poprun-service", "agent", 15'000),
                    memory("poprun-service", "agent service", 14'000)};
  const std::vector<Goal> goals = judge(figures);
  ASSERT_EQ(goals.size(), 5U) << "the controller has no goal";
  EXPECT_FALSE(goals[0].reached());
  EXPECT_EQ(goals[1].text, "poprun-service: fence, 128 instances on 32 hosts");
  EXPECT_TRUE(goals[1].reached());
  EXPECT_TRUE(goals[1].is_noisy);
  EXPECT_TRUE(goals[2].reached());
  EXPECT_FALSE(goals[3].reached()) << "15,000 KiB are more than 15 MB";
  EXPECT_EQ(goals[4].text, "poprun-service: memory over hosts, agent service");
  EXPECT_TRUE(goals[4].reached());
}

TEST(HostGoals, AreNotJudgedWithoutFigures) {
  EXPECT_THAT(judge(Figures{}), IsEmpty());
}

TEST(HostReport, HasARowForEachContestantAndAColumnForEachNumberOfHosts) {
  Figures figures;
  figures.times = {figure("poprun", false, 1, 100), figure("hydra", true, 1, 200),
                   figure("poprun", false, 8, 300), figure("hydra", true, 8, 300)};
  const std::string text = inWords(figures);
  EXPECT_THAT(text, HasSubstr("| hydra  |   200 |        0.50 |   300 |        1.00 |"));
}

}  // namespace
}  // namespace pop::bench
