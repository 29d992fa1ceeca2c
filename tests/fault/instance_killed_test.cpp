// SPDX-License-Identifier: Apache-2.0
// Instances and what they have started are killed with SIGKILL while poprun watches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>

#include "tests/testing/poprun_process.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

TEST(KilledInstance, IsNamedAndTheOthersAreStopped) {
  PoprunProcess poprun(
      {.options = {"--num-instances", "4", "--kill-grace", "60"}, .child = {"spawn-grandchild", "daemon"}});
  const std::vector<pid_t> instances = poprun.waitReady(4);
  ASSERT_EQ(instances.size(), 4U);
  ::kill(instances[3], SIGKILL);
  EXPECT_EQ(poprun.wait(), 137);
  EXPECT_THAT(poprun.err(), HasSubstr("instance 3"));
  EXPECT_THAT(poprun.err(), HasSubstr("(pid " + std::to_string(instances[3]) + ") was killed by SIGKILL"));
  EXPECT_EQ(poprun.leftNow(), "");
}

TEST(KilledInstance, AmongAllKilledAtOnceGivesOneCode) {
  PoprunProcess poprun({.options = {"--num-instances", "8", "--kill-grace", "60"}, .child = {"ignore-term"}});
  const std::vector<pid_t> instances = poprun.waitReady(8);
  ASSERT_EQ(instances.size(), 8U);
  for (const pid_t instance : instances) ::kill(instance, SIGKILL);
  EXPECT_EQ(poprun.wait(), 137);
  EXPECT_EQ(poprun.err().rfind("poprun: "), 0U) << "one instance is named: " << poprun.err();
}

pid_t grandchildNamedIn(const std::string& text) {
  const std::size_t at = text.find("grandchild ");
  int pid = -1;
  if (at == std::string::npos || text.find('\n', at) == std::string::npos) return -1;
  return std::sscanf(text.c_str() + at, "grandchild %d", &pid) == 1 ? pid : -1;
}

TEST(KilledGrandchild, IsTheProgramsOwnBusiness) {
  PoprunProcess poprun({.child = {"guard-grandchild"}});
  pid_t grandchild = -1;
  ASSERT_TRUE(poprun.waitFor([&] { return (grandchild = grandchildNamedIn(poprun.out())) > 0; }));
  ::kill(grandchild, SIGKILL);
  EXPECT_EQ(poprun.wait(), 0);
  EXPECT_EQ(poprun.err(), "");
}

// Daemons are handed to the keeper, which reaps them and goes on.
TEST(KilledGrandchild, ThatWasADaemonDoesNotDisturbTheJob) {
  PoprunProcess poprun({.options = {"--kill-grace", "60"}, .child = {"spawn-grandchild", "daemon"}});
  const std::vector<pid_t> instances = poprun.waitReady(1);
  ASSERT_EQ(instances.size(), 1U);
  const pid_t keeper = childNamed(poprun.pid(), "pop-keeper");
  pid_t daemon = -1;
  for (const pid_t pid : processesWith(poprun.token())) {
    if (pid != instances[0] && statOf(pid).value_or(ProcessStat{}).parent == keeper) daemon = pid;
  }
  ASSERT_GT(daemon, 0);
  ::kill(daemon, SIGKILL);
  ASSERT_TRUE(poprun.waitFor([&] { return !statOf(daemon); })) << "a zombie is left";
  EXPECT_TRUE(statOf(instances[0]).has_value());
  poprun.signal(SIGTERM);
  EXPECT_EQ(poprun.wait(), 143);
}

}  // namespace
}  // namespace pop::testing
