// SPDX-License-Identifier: Apache-2.0
// poprun is killed with SIGKILL, at any moment and whatever its instances have started: within a second,
// nothing of the job is left, neither a process nor its directory.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <vector>

#include "tests/testing/poprun_process.h"

namespace pop::testing {
namespace {

constexpr Milliseconds kClaim{1000};

// The time that the rest of each launcher lived. A busy machine may hold some up, but not all of many.
class Survival {
 public:
  // Kills it now. `or_else`: its exit code should it end before that by itself.
  void killAndMeasure(PoprunProcess& poprun, int or_else = -SIGKILL) {
    poprun.signal(SIGKILL);
    const std::optional<Milliseconds> gone = poprun.goneWithin(kTimeout);
    EXPECT_TRUE(gone.has_value()) << "left: " << poprun.leftNow();
    const int exit_code = poprun.wait();
    EXPECT_TRUE(exit_code == -SIGKILL || exit_code == or_else) << exit_code;
    all_.push_back(gone.value_or(kTimeout));
  }

  void report(const char* what) const {
    const auto [shortest, longest] = std::minmax_element(all_.begin(), all_.end());
    EXPECT_TRUE(all_.size() == 1 || *shortest < kClaim) << shortest->count() << " ms at least";
    std::printf("longest survival (%s): %d ms\n", what, static_cast<int>(longest->count()));
    ::testing::Test::RecordProperty("longest_survival_ms", static_cast<int>(longest->count()));
  }

 private:
  std::vector<Milliseconds> all_;
};

// Reading a file of /proc takes some microseconds: a clock that ticks with the machine's load.
void letItRun(const PoprunProcess& poprun, int ticks) {
  for (int i = 0; i < ticks; ++i) statOf(poprun.pid());
}

TEST(KilledLauncher, LeavesNothingWhateverItWasStarting) {
  Survival survival;
  for (int run = 0; run < 60; ++run) {
    PoprunProcess poprun(
        {.options = {"--num-instances", "12", "--tag-output", "no"}, .child = {"ignore-term"}});
    letItRun(poprun, run * run / 4);
    survival.killAndMeasure(poprun);
    if (HasFailure()) FAIL() << "in run " << run;
  }
  survival.report("while starting");
}

TEST(KilledLauncher, LeavesNothingHoweverManyInstancesAreReady) {
  Survival survival;
  for (int ready = 0; ready <= 24; ++ready) {
    PoprunProcess poprun(
        {.options = {"--num-instances", "24", "--tag-output", "no"}, .child = {"ignore-term"}});
    ASSERT_GE(static_cast<int>(ready == 0 ? 0 : poprun.waitReady(ready).size()), ready);
    survival.killAndMeasure(poprun);
    if (HasFailure()) FAIL() << "after " << ready << " instances were ready";
  }
  survival.report("after some are ready");
}

TEST(KilledLauncher, LeavesNothingWhileItStopsTheJob) {
  Survival survival;
  for (int run = 0; run < 25; ++run) {
    PoprunProcess poprun(
        {.options = {"--num-instances", "6", "--tag-output", "no"}, .child = {"ignore-term"}});
    ASSERT_EQ(poprun.waitReady(6).size(), 6U);
    poprun.signal(SIGTERM);
    if (run % 2 == 1) poprun.signal(SIGTERM);
    letItRun(poprun, 10 * run);
    survival.killAndMeasure(poprun, 128 + SIGTERM);
    if (HasFailure()) FAIL() << "in run " << run;
  }
  survival.report("while stopping");
}

TEST(KilledLauncher, LeavesNothingWhileTheJobRestarts) {
  Survival survival;
  for (int run = 0; run < 40; ++run) {
    PoprunProcess poprun(
        {.options = {"--num-instances", "4", "--tag-output", "no", "--max-restarts", "100000"},
         .child = {"fail-until", "100000", "3"}});
    ASSERT_TRUE(poprun.waitFor(
        [&] { return poprun.err().find("(restart " + std::to_string(1 + run % 4)) != std::string::npos; }));
    letItRun(poprun, run * run);
    survival.killAndMeasure(poprun);
    if (HasFailure()) FAIL() << "in run " << run;
  }
  survival.report("while restarting");
}

TEST(KilledLauncher, LeavesNothingOfManyInstances) {
  PoprunProcess poprun(
      {.options = {"--num-instances", "200", "--tag-output", "no"}, .child = {"ignore-term"}});
  ASSERT_EQ(poprun.waitReady(200).size(), 200U);
  Survival survival;
  survival.killAndMeasure(poprun);
  survival.report("of 200 instances");
}

TEST(KilledLauncher, LeavesNothingWhenItsWholeGroupIsKilled) {
  PoprunProcess poprun(
      {.options = {"--num-instances", "4", "--tag-output", "no"}, .child = {"spawn-grandchild", "daemon"}});
  ASSERT_EQ(poprun.waitReady(4).size(), 4U);
  poprun.signalGroup(SIGKILL);
  Survival survival;
  survival.killAndMeasure(poprun);
  survival.report("of a killed group");
}

TEST(KilledLauncher, LeavesNothingOfAnInstanceThatIsStopped) {
  PoprunProcess poprun(
      {.options = {"--num-instances", "3", "--tag-output", "no"}, .child = {"spawn-grandchild", "fork"}});
  const std::vector<pid_t> instances = poprun.waitReady(3);
  ASSERT_EQ(instances.size(), 3U);
  for (const pid_t instance : instances) ::kill(-instance, SIGSTOP);
  ASSERT_TRUE(poprun.waitFor([&] { return statOf(instances[2]).value_or(ProcessStat{}).state == 'T'; }));
  Survival survival;
  survival.killAndMeasure(poprun);
  survival.report("of stopped instances");
}

TEST(KilledLauncher, LeavesNothingWhenNobodyReadItsOutput) {
  PoprunProcess poprun({.options = {"--num-instances", "3"}, .child = {"flood"}});
  poprun.pauseReading();
  ASSERT_TRUE(poprun.waitFor([&] { return poprun.outputFull(); }));
  Survival survival;
  survival.killAndMeasure(poprun);
  survival.report("of blocked writers");
}

class KilledLauncherWithGrandchildren : public ::testing::TestWithParam<const char*> {};

TEST_P(KilledLauncherWithGrandchildren, LeavesNoneOfThem) {
  Survival survival;
  for (int run = 0; run < 5; ++run) {
    PoprunProcess poprun({.options = {"--num-instances", "4", "--tag-output", "no"},
                          .child = {"spawn-grandchild", GetParam()}});
    ASSERT_EQ(poprun.waitReady(4).size(), 4U);
    ASSERT_GE(processesWith(poprun.token()).size(),
              1U + 1 + 2 * 4);  // poprun, its keeper, instances, grandchildren
    survival.killAndMeasure(poprun);
  }
  survival.report(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Kinds, KilledLauncherWithGrandchildren,
                         ::testing::Values("fork", "group", "daemon", "nested", "threads"),
                         [](const auto& kind) { return std::string(kind.param); });

}  // namespace
}  // namespace pop::testing
