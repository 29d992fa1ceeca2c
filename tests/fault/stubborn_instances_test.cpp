// SPDX-License-Identifier: Apache-2.0
// Instances that do not go the way they should: they leave daemons, are stopped, or multiply when told to
// end.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/testing/poprun_process.h"

namespace pop::testing {
namespace {

constexpr Milliseconds kAtOnce{2000};  // far below the grace of 5 s

// Repeats the signal until poprun has taken at least two.
int interruptUntilEnd(PoprunProcess& poprun, Milliseconds limit) {
  const auto begin = std::chrono::steady_clock::now();
  while (!poprun.ended() && std::chrono::steady_clock::now() - begin < limit) {
    poprun.signal(SIGINT);
    poprun.waitFor([] { return false; }, Milliseconds(20));
  }
  return poprun.wait(Milliseconds(0));
}

class InstanceThatLeavesADaemon : public ::testing::TestWithParam<int> {};

TEST_P(InstanceThatLeavesADaemon, EndsTheJobAtOnceAndTheDaemonToo) {
  PoprunProcess poprun(
      {.options = {"--num-instances", "3"}, .child = {"leave-daemon", std::to_string(GetParam())}});
  EXPECT_EQ(poprun.wait(kAtOnce), GetParam());
  EXPECT_EQ(poprun.leftNow(), "");
  EXPECT_NE(poprun.out().find("daemon left"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Codes, InstanceThatLeavesADaemon, ::testing::Values(0, 4));

TEST(StoppedInstance, IsEndedBySigterm) {
  PoprunProcess poprun({.options = {"--num-instances", "2"}, .child = {"wait"}});
  const std::vector<pid_t> instances = poprun.waitReady(2);
  ASSERT_EQ(instances.size(), 2U);
  ::kill(instances[0], SIGSTOP);
  ASSERT_TRUE(poprun.waitFor([&] { return statOf(instances[0]).value_or(ProcessStat{}).state == 'T'; }));
  poprun.signal(SIGTERM);
  EXPECT_EQ(poprun.wait(kAtOnce), 143);
}

TEST(StoppedInstance, ThatIgnoresSigtermIsKilledByTheSecondCtrlC) {
  PoprunProcess poprun({.options = {"--num-instances", "2"}, .child = {"ignore-term"}});
  const std::vector<pid_t> instances = poprun.waitReady(2);
  ASSERT_EQ(instances.size(), 2U);
  ::kill(instances[1], SIGSTOP);
  ASSERT_TRUE(poprun.waitFor([&] { return statOf(instances[1]).value_or(ProcessStat{}).state == 'T'; }));
  EXPECT_EQ(interruptUntilEnd(poprun, kAtOnce), 130);
}

TEST(BreedingInstance, IsEndedWithAllItsOffspring) {
  constexpr std::size_t kBorn = 100;
  PoprunProcess poprun({.options = {"--num-instances", "2"}, .child = {"breed", std::to_string(kBorn)}});
  const std::vector<pid_t> instances = poprun.waitReady(2);
  ASSERT_EQ(instances.size(), 2U);
  poprun.signal(SIGTERM);
  ASSERT_TRUE(poprun.waitFor([&] { return processesWith(poprun.token()).size() > kBorn; }));
  EXPECT_EQ(interruptUntilEnd(poprun, kAtOnce), 143);
  EXPECT_EQ(poprun.leftNow(), "");
}

TEST(BreedingInstance, IsEndedWhileItMultiplies) {
  for (int run = 0; run < 10; ++run) {
    PoprunProcess poprun({.options = {"--num-instances", "2"}, .child = {"breed", "100"}});
    const std::vector<pid_t> instances = poprun.waitReady(2);
    ASSERT_EQ(instances.size(), 2U);
    poprun.signal(SIGTERM);
    const auto bred = static_cast<std::size_t>(4 + 10 * run);
    ASSERT_TRUE(poprun.waitFor([&] { return processesWith(poprun.token()).size() >= bred; }));
    poprun.signal(SIGKILL);
    EXPECT_TRUE(poprun.goneWithin(Milliseconds(1000))) << poprun.leftNow();
  }
}

}  // namespace
}  // namespace pop::testing
