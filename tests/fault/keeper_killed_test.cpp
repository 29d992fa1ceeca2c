// SPDX-License-Identifier: Apache-2.0
// The keeper is killed with SIGKILL: the job fails, poprun says why, and nothing is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/testing/poprun_process.h"

namespace pop::testing {
namespace {

class KilledKeeper : public ::testing::TestWithParam<const char*> {};

TEST_P(KilledKeeper, EndsTheJobAndLeavesNothing) {
  PoprunProcess poprun({.options = {"--num-instances", "4", "--kill-grace", "60", "--tag-output", "no"},
                        .child = {"spawn-grandchild", GetParam()}});
  ASSERT_EQ(poprun.waitReady(4).size(), 4U);
  const pid_t keeper = childNamed(poprun.pid(), "pop-keeper");
  ASSERT_GT(keeper, 0);
  ::kill(keeper, SIGKILL);
  EXPECT_GT(poprun.wait(), 0);
  EXPECT_NE(poprun.err(), "");
  EXPECT_EQ(poprun.leftNow(), "");
}

TEST(KilledKeeper, EndsAJobThatWouldBeStartedAgain) {
  PoprunProcess poprun({.options = {"--max-restarts", "3", "--restart-delay", "1000", "--kill-grace", "60"},
                        .child = {"wait"}});
  ASSERT_EQ(poprun.waitReady(1).size(), 1U);
  ::kill(childNamed(poprun.pid(), "pop-keeper"), SIGKILL);
  EXPECT_EQ(poprun.wait(), 125);
}

INSTANTIATE_TEST_SUITE_P(Kinds, KilledKeeper,
                         ::testing::Values("fork", "group", "daemon", "nested", "threads"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST(KilledKeeper, WhileStartingEndsTheJobToo) {
  for (int run = 0; run < 20; ++run) {
    PoprunProcess poprun(
        {.options = {"--num-instances", "16", "--kill-grace", "60"}, .child = {"ignore-term"}});
    pid_t keeper = -1;
    ASSERT_TRUE(poprun.waitFor([&] { return (keeper = childNamed(poprun.pid(), "pop-keeper")) > 0; }));
    for (int i = 0; i < 5 * run; ++i) statOf(keeper);
    ::kill(keeper, SIGKILL);
    EXPECT_GT(poprun.wait(), 0) << "in run " << run;
    EXPECT_NE(poprun.err(), "");
  }
}

pid_t stopKeeper(const PoprunProcess& poprun) {
  const pid_t keeper = childNamed(poprun.pid(), "pop-keeper");
  if (keeper <= 0 || ::kill(keeper, SIGSTOP) != 0) return -1;
  return waitUntil([&] { return statOf(keeper).value_or(ProcessStat{}).state == 'T'; }, kTimeout) ? keeper
                                                                                                  : -1;
}

// It cannot pass on a signal, nor say that an instance has ended.
TEST(StoppedKeeper, DoesNotKeepTheJobFromBeingEnded) {
  PoprunProcess poprun(
      {.options = {"--num-instances", "2", "--kill-grace", "0.2"}, .child = {"spawn-grandchild", "daemon"}});
  ASSERT_EQ(poprun.waitReady(2).size(), 2U);
  ASSERT_GT(stopKeeper(poprun), 0);
  poprun.signal(SIGTERM);
  EXPECT_EQ(poprun.wait(), 143);
  EXPECT_EQ(poprun.leftNow(), "");
}

TEST(StoppedKeeper, DoesNotKeepAnythingAliveWhenPoprunIsKilled) {
  PoprunProcess poprun({.options = {"--num-instances", "2"}, .child = {"spawn-grandchild", "daemon"}});
  ASSERT_EQ(poprun.waitReady(2).size(), 2U);
  ASSERT_GT(stopKeeper(poprun), 0);
  poprun.signal(SIGKILL);  // the kernel continues a stopped group once it is orphaned
  EXPECT_TRUE(poprun.goneWithin(kTimeout)) << poprun.leftNow();
}

}  // namespace
}  // namespace pop::testing
