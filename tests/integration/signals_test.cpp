// SPDX-License-Identifier: Apache-2.0
// The user's signals: the first asks, the second insists.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "common/base/random.h"
#include "tests/testing/poprun_process.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// With a grace so long that an instance that ignores a signal is not killed while a test waits.
std::vector<std::string> optionsFor(const std::string& count) {
  return {"--num-instances", count, "--kill-grace", "1000", "--tag-output", "no"};
}

struct UserSignal {
  int signal;
  int exit_code;

  friend void PrintTo(const UserSignal& user, std::ostream* out) { *out << "signal " << user.signal; }
};

class OneSignal : public ::testing::TestWithParam<UserSignal> {};

TEST_P(OneSignal, TerminatesTheInstancesAndDecidesTheExitCode) {
  PoprunProcess poprun({.options = optionsFor("3"), .child = {"say-signals"}});
  ASSERT_EQ(poprun.waitReady(3).size(), 3U);
  poprun.signal(GetParam().signal);
  EXPECT_EQ(poprun.wait(), GetParam().exit_code);
  std::size_t terminated = 0;
  for (const std::string& line : linesOf(poprun.out())) terminated += line == "SIGTERM" ? 1U : 0U;
  EXPECT_EQ(terminated, 3U) << poprun.out();
  EXPECT_THAT(poprun.out(), Not(HasSubstr("SIGINT")));
  EXPECT_THAT(poprun.out(), Not(HasSubstr("SIGHUP")));
  EXPECT_EQ(poprun.leftNow(), "");
}

TEST(CallerThatBlocksSignals, DoesNotKeepThemFromPoprun) {
  PoprunProcess poprun({.options = optionsFor("1"), .child = {"say-signals"}, .blocked_signals = true});
  ASSERT_EQ(poprun.waitReady(1).size(), 1U);
  poprun.signal(SIGINT);
  EXPECT_EQ(poprun.wait(), 130);
}

TEST(CallerThatIgnoresSigchld, GetsTheExitCode) {
  const Outcome result = run({.child = {"leave-daemon", "4"}, .ignored_signals = {SIGCHLD}});
  EXPECT_EQ(result.exit_code, 4);
}

// The plan needs the output of helper programs.
TEST(CallerThatIgnoresSigchld, GetsAPlan) {
  const Outcome result =
      run({.options = {"--dry-run", "--bind-to", "core", "true"}, .ignored_signals = {SIGCHLD}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

INSTANTIATE_TEST_SUITE_P(All, OneSignal,
                         ::testing::Values(UserSignal{SIGINT, 130}, UserSignal{SIGTERM, 143},
                                           UserSignal{SIGHUP, 129}));

// A terminal sends Ctrl-C to its whole foreground process group.
TEST(CtrlC, ReachesInstancesThroughPoprunOnly) {
  PoprunProcess poprun({.options = optionsFor("2"), .child = {"say-signals"}});
  ASSERT_EQ(poprun.waitReady(2).size(), 2U);
  poprun.signalGroup(SIGINT);
  EXPECT_EQ(poprun.wait(), 130);
  EXPECT_THAT(poprun.out(), Not(HasSubstr("SIGINT")));
  EXPECT_THAT(poprun.out(), HasSubstr("SIGTERM"));
}

// Before poprun has its handlers, the signal itself ends it.
TEST(CtrlC, RightAfterTheStartIsNoFailureOfPoprun) {
  SplitMix64 random(1);
  const auto end = std::chrono::steady_clock::now() + kTimeout / 2;  // on a machine that has much else to do
  for (int round = 0; round < 150 && std::chrono::steady_clock::now() < end; ++round) {
    PoprunProcess poprun({.options = optionsFor("1"), .child = {"wait"}});
    const std::chrono::microseconds moment(random.below(5000));
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < moment) {
    }
    poprun.signalGroup(SIGINT);
    const int exit_code = poprun.wait();
    EXPECT_TRUE(exit_code == 130 || exit_code == -SIGINT)
        << exit_code << " after " << moment.count() << " us\n"
        << poprun.err();
    EXPECT_TRUE(poprun.goneWithin(kTimeout));
  }
}

TEST(CtrlC, EndsWhatReachesAHostWithItsHelpers) {
  const TempDir directory;
  const std::string program = directory.path() + "/reach", started = directory.path() + "/started";
  std::ofstream(program) << "#!/bin/sh\ntrap 'wait; exit 1' TERM\nsleep 1000 & touch " << started
                         << "\nwait\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  PoprunProcess poprun({.options = {"--rsh", program, "--host", "elsewhere", "true"}});
  ASSERT_TRUE(poprun.waitFor([&] { return std::filesystem::exists(started); }));
  poprun.signal(SIGINT);
  EXPECT_EQ(poprun.wait(), 130);
  EXPECT_TRUE(poprun.goneWithin(kTimeout));
}

TEST(CtrlC, SaysForWhatItWaits) {
  PoprunProcess poprun({.options = optionsFor("2"), .child = {"ignore-term"}});
  ASSERT_EQ(poprun.waitReady(2).size(), 2U);
  poprun.signal(SIGINT);
  EXPECT_TRUE(poprun.waitFor([&] {
    return poprun.err().find(
               "poprun: stopping 2 instances (SIGTERM; SIGKILL in 999.5 s; Ctrl-C again kills now)\n") !=
           std::string::npos;
  })) << poprun.err();
  EXPECT_EQ(poprun.interruptUntilEnd(), 130);
}

TEST(SecondCtrlC, KillsAtOnceWhatIgnoresSigterm) {
  PoprunProcess poprun({.options = optionsFor("4"), .child = {"ignore-term"}});
  ASSERT_EQ(poprun.waitReady(4).size(), 4U);
  // Again and again: signals of one kind that arrive together are one.
  const auto begin = std::chrono::steady_clock::now();
  while (!poprun.ended() && std::chrono::steady_clock::now() - begin < kTimeout) {
    poprun.signal(SIGINT);
    poprun.waitFor([] { return false; }, Milliseconds(20));
  }
  ASSERT_TRUE(poprun.ended());
  EXPECT_EQ(poprun.wait(), 130);
  EXPECT_EQ(poprun.leftNow(), "");
}

TEST(SignalBeforeTheInstancesRun, EndsTheJobToo) {
  for (int i = 0; i < 10; ++i) {
    PoprunProcess poprun({.options = {"--num-instances", "16"}, .child = {"ignore-term"}});
    ASSERT_TRUE(poprun.waitFor([&] { return childNamed(poprun.pid(), "pop-keeper") > 0; }));
    while (!poprun.ended()) {
      poprun.signal(SIGTERM);
      poprun.waitFor([] { return false; }, Milliseconds(1));
    }
    // Killed by the signal itself when it came before poprun could handle it.
    const int exit_code = poprun.wait();
    EXPECT_TRUE(exit_code == 143 || exit_code == -SIGTERM) << exit_code;
    EXPECT_TRUE(poprun.goneWithin(kTimeout));
  }
}

TEST(IgnoredHangup, StaysIgnoredAsNohupWants) {
  PoprunProcess poprun({.child = {"wait", "9"}, .ignored_signals = {SIGHUP}});
  const std::vector<pid_t> instances = poprun.waitReady(1);
  ASSERT_EQ(instances.size(), 1U);
  poprun.signal(SIGHUP);
  ::kill(instances[0], SIGUSR1);
  EXPECT_EQ(poprun.wait(), 9);
}

}  // namespace
}  // namespace pop::testing
