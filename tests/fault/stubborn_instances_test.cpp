// SPDX-License-Identifier: Apache-2.0
// Instances that do not go the way they should: they leave daemons, are stopped, or multiply when told to
// end.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/testing/poprun_process.h"

namespace pop::testing {
namespace {

// With a grace longer than a test's timeout: a job that ends in time has not waited for it.
std::vector<std::string> withLongGrace(int num_instances) {
  return {"--num-instances", std::to_string(num_instances), "--kill-grace", "60"};
}

class InstanceThatLeavesADaemon : public ::testing::TestWithParam<int> {};

TEST_P(InstanceThatLeavesADaemon, EndsTheJobAtOnceAndTheDaemonToo) {
  PoprunProcess poprun({.options = withLongGrace(3), .child = {"leave-daemon", std::to_string(GetParam())}});
  EXPECT_EQ(poprun.wait(), GetParam());
  EXPECT_EQ(poprun.leftNow(), "");
  EXPECT_NE(poprun.out().find("daemon left"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Codes, InstanceThatLeavesADaemon, ::testing::Values(0, 4));

TEST(StoppedInstance, IsEndedBySigterm) {
  PoprunProcess poprun({.options = withLongGrace(2), .child = {"wait"}});
  const std::vector<pid_t> instances = poprun.waitReady(2);
  ASSERT_EQ(instances.size(), 2U);
  ::kill(instances[0], SIGSTOP);
  ASSERT_TRUE(poprun.waitFor([&] { return statOf(instances[0]).value_or(ProcessStat{}).state == 'T'; }));
  poprun.signal(SIGTERM);
  EXPECT_EQ(poprun.wait(), 143);
}

TEST(StoppedInstance, ThatIgnoresSigtermIsKilledByTheSecondCtrlC) {
  PoprunProcess poprun({.options = withLongGrace(2), .child = {"ignore-term"}});
  const std::vector<pid_t> instances = poprun.waitReady(2);
  ASSERT_EQ(instances.size(), 2U);
  ::kill(instances[1], SIGSTOP);
  ASSERT_TRUE(poprun.waitFor([&] { return statOf(instances[1]).value_or(ProcessStat{}).state == 'T'; }));
  EXPECT_EQ(poprun.interruptUntilEnd(), 130);
}

TEST(BreedingInstance, IsEndedWithAllItsOffspring) {
  constexpr std::size_t kBorn = 100;
  PoprunProcess poprun({.options = withLongGrace(2), .child = {"breed", std::to_string(kBorn)}});
  const std::vector<pid_t> instances = poprun.waitReady(2);
  ASSERT_EQ(instances.size(), 2U);
  poprun.signal(SIGTERM);
  ASSERT_TRUE(poprun.waitFor([&] { return processesWith(poprun.token()).size() > kBorn; }));
  EXPECT_EQ(poprun.interruptUntilEnd(), 143);
  EXPECT_EQ(poprun.leftNow(), "");
}

TEST(BreedingInstance, IsEndedWhileItMultiplies) {
  for (int run = 0; run < 10; ++run) {
    PoprunProcess poprun({.options = withLongGrace(2), .child = {"breed", "100"}});
    const std::vector<pid_t> instances = poprun.waitReady(2);
    ASSERT_EQ(instances.size(), 2U);
    poprun.signal(SIGTERM);
    const auto bred = static_cast<std::size_t>(4 + 10 * run);
    ASSERT_TRUE(poprun.waitFor([&] { return processesWith(poprun.token()).size() >= bred; }));
    poprun.signal(SIGKILL);
    EXPECT_TRUE(poprun.goneWithin(kTimeout)) << poprun.leftNow();
  }
}

}  // namespace
}  // namespace pop::testing
