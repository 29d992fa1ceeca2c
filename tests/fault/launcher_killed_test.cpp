// SPDX-License-Identifier: Apache-2.0
// poprun is killed with SIGKILL, at any moment and whatever its instances have started: within a second,
// nothing of the job is left, neither a process nor its directory.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "tests/testing/poprun_process.h"

namespace pop::testing {
namespace {

constexpr Milliseconds kLimit{1000};

// Kills it now; returns how long the rest of it lived. `or_else`: its exit code should it end before that by
// itself.
Milliseconds killAndMeasure(PoprunProcess& poprun, int or_else = -SIGKILL) {
  poprun.signal(SIGKILL);
  const std::optional<Milliseconds> gone = poprun.goneWithin(kLimit);
  EXPECT_TRUE(gone.has_value()) << "left after a second: " << poprun.leftNow();
  const int exit_code = poprun.wait();
  EXPECT_TRUE(exit_code == -SIGKILL || exit_code == or_else) << exit_code;
  return gone.value_or(kLimit);
}

void reportLongest(const char* what, Milliseconds longest) {
  std::printf("longest survival (%s): %d ms\n", what, static_cast<int>(longest.count()));
  ::testing::Test::RecordProperty("longest_survival_ms", static_cast<int>(longest.count()));
}

// Reading a file of /proc takes some microseconds: a clock that ticks with the machine's load.
void letItRun(const PoprunProcess& poprun, int ticks) {
  for (int i = 0; i < ticks; ++i) statOf(poprun.pid());
}

TEST(KilledLauncher, LeavesNothingWhateverItWasStarting) {
  Milliseconds longest{0};
  for (int run = 0; run < 60; ++run) {
    PoprunProcess poprun(
        {.options = {"--num-instances", "12", "--tag-output", "no"}, .child = {"ignore-term"}});
    letItRun(poprun, run * run / 4);
    longest = std::max(longest, killAndMeasure(poprun));
    if (HasFailure()) FAIL() << "in run " << run;
  }
  reportLongest("while starting", longest);
}

TEST(KilledLauncher, LeavesNothingHoweverManyInstancesAreReady) {
  Milliseconds longest{0};
  for (int ready = 0; ready <= 24; ++ready) {
    PoprunProcess poprun(
        {.options = {"--num-instances", "24", "--tag-output", "no"}, .child = {"ignore-term"}});
    ASSERT_GE(static_cast<int>(ready == 0 ? 0 : poprun.waitReady(ready).size()), ready);
    longest = std::max(longest, killAndMeasure(poprun));
    if (HasFailure()) FAIL() << "after " << ready << " instances were ready";
  }
  reportLongest("after some are ready", longest);
}

TEST(KilledLauncher, LeavesNothingWhileItStopsTheJob) {
  Milliseconds longest{0};
  for (int run = 0; run < 25; ++run) {
    PoprunProcess poprun(
        {.options = {"--num-instances", "6", "--tag-output", "no"}, .child = {"ignore-term"}});
    ASSERT_EQ(poprun.waitReady(6).size(), 6U);
    poprun.signal(SIGTERM);
    if (run % 2 == 1) poprun.signal(SIGTERM);
    letItRun(poprun, 10 * run);
    longest = std::max(longest, killAndMeasure(poprun, 128 + SIGTERM));
    if (HasFailure()) FAIL() << "in run " << run;
  }
  reportLongest("while stopping", longest);
}

TEST(KilledLauncher, LeavesNothingWhileTheJobRestarts) {
  Milliseconds longest{0};
  for (int run = 0; run < 40; ++run) {
    PoprunProcess poprun(
        {.options = {"--num-instances", "4", "--tag-output", "no", "--max-restarts", "100000"},
         .child = {"fail-until", "100000", "3"}});
    ASSERT_TRUE(poprun.waitFor(
        [&] { return poprun.err().find("(restart " + std::to_string(1 + run % 4)) != std::string::npos; }));
    letItRun(poprun, run * run);
    longest = std::max(longest, killAndMeasure(poprun));
    if (HasFailure()) FAIL() << "in run " << run;
  }
  reportLongest("while restarting", longest);
}

TEST(KilledLauncher, LeavesNothingOfManyInstances) {
  PoprunProcess poprun(
      {.options = {"--num-instances", "200", "--tag-output", "no"}, .child = {"ignore-term"}});
  ASSERT_EQ(poprun.waitReady(200).size(), 200U);
  reportLongest("of 200 instances", killAndMeasure(poprun));
}

TEST(KilledLauncher, LeavesNothingWhenItsWholeGroupIsKilled) {
  PoprunProcess poprun(
      {.options = {"--num-instances", "4", "--tag-output", "no"}, .child = {"spawn-grandchild", "daemon"}});
  ASSERT_EQ(poprun.waitReady(4).size(), 4U);
  poprun.signalGroup(SIGKILL);
  reportLongest("of a killed group", killAndMeasure(poprun));
}

TEST(KilledLauncher, LeavesNothingOfAnInstanceThatIsStopped) {
  PoprunProcess poprun(
      {.options = {"--num-instances", "3", "--tag-output", "no"}, .child = {"spawn-grandchild", "fork"}});
  const std::vector<pid_t> instances = poprun.waitReady(3);
  ASSERT_EQ(instances.size(), 3U);
  for (const pid_t instance : instances) ::kill(-instance, SIGSTOP);
  ASSERT_TRUE(poprun.waitFor([&] { return statOf(instances[2]).value_or(ProcessStat{}).state == 'T'; }));
  reportLongest("of stopped instances", killAndMeasure(poprun));
}

TEST(KilledLauncher, LeavesNothingWhenNobodyReadItsOutput) {
  PoprunProcess poprun({.options = {"--num-instances", "3"}, .child = {"flood"}});
  poprun.pauseReading();
  ASSERT_TRUE(poprun.waitFor([&] { return poprun.outputFull(); }));
  reportLongest("of blocked writers", killAndMeasure(poprun));
}

class KilledLauncherWithGrandchildren : public ::testing::TestWithParam<const char*> {};

TEST_P(KilledLauncherWithGrandchildren, LeavesNoneOfThem) {
  Milliseconds longest{0};
  for (int run = 0; run < 5; ++run) {
    PoprunProcess poprun({.options = {"--num-instances", "4", "--tag-output", "no"},
                          .child = {"spawn-grandchild", GetParam()}});
    ASSERT_EQ(poprun.waitReady(4).size(), 4U);
    ASSERT_GE(processesWith(poprun.token()).size(),
              1U + 1 + 2 * 4);  // poprun, its keeper, instances, grandchildren
    longest = std::max(longest, killAndMeasure(poprun));
  }
  reportLongest(GetParam(), longest);
}

INSTANTIATE_TEST_SUITE_P(Kinds, KilledLauncherWithGrandchildren,
                         ::testing::Values("fork", "group", "daemon", "nested", "threads"),
                         [](const auto& kind) { return std::string(kind.param); });

}  // namespace
}  // namespace pop::testing
