// SPDX-License-Identifier: Apache-2.0
// Signals that do not end a job: passed on, and Ctrl-Z with what follows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/testing/poprun_process.h"
#include "tests/testing/terminal.h"
#include "tests/testing/test_child.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

int count(const std::string& text, const std::string& line) {
  int found = 0;
  for (const std::string& each : linesOf(text)) found += each == line ? 1 : 0;
  return found;
}

bool inState(pid_t pid, char state) {
  return statOf(pid).value_or(ProcessStat{}).state == state;
}

class PassedOn : public ::testing::TestWithParam<int> {};

TEST_P(PassedOn, ReachesEveryInstanceAndEndsNothing) {
  PoprunProcess poprun({.options = {"--num-instances", "3", "--tag-output", "no"}, .child = {"say-signals"}});
  ASSERT_EQ(poprun.waitReady(3).size(), 3U);
  poprun.signal(GetParam());
  const std::string name = "SIG" + std::string(sigabbrev_np(GetParam()));
  EXPECT_TRUE(poprun.waitFor([&] { return count(poprun.out(), name) == 3; })) << poprun.out();
  poprun.signal(SIGTERM);
  EXPECT_EQ(poprun.wait(), 143);
}

INSTANTIATE_TEST_SUITE_P(All, PassedOn, ::testing::Values(SIGUSR1, SIGUSR2, SIGCONT));

TEST(CtrlZ, IsOverForTheInstancesTooWhereSigcontIsIgnored) {
  PoprunProcess poprun({.child = {"say-signals"}, .ignored_signals = {SIGCONT}});
  const std::vector<pid_t> instances = poprun.waitReady(1);
  ASSERT_EQ(instances.size(), 1U);
  poprun.signal(SIGTSTP);
  ASSERT_TRUE(poprun.waitFor([&] { return inState(poprun.pid(), 'T') && inState(instances[0], 'T'); }));
  poprun.signal(SIGCONT);
  EXPECT_TRUE(poprun.waitFor([&] { return !inState(instances[0], 'T'); }));
  poprun.signal(SIGTERM);
  EXPECT_EQ(poprun.wait(), 143);
}

TEST(CtrlZ, StopsTheInstancesAndPoprunUntilTheyAreContinued) {
  PoprunProcess poprun({.options = {"--num-instances", "2", "--tag-output", "no"}, .child = {"say-signals"}});
  const std::vector<pid_t> instances = poprun.waitReady(2);
  ASSERT_EQ(instances.size(), 2U);
  poprun.signal(SIGTSTP);
  EXPECT_TRUE(waitUntil([&] { return inState(poprun.pid(), 'T'); }, kTimeout));
  for (const pid_t instance : instances)
    EXPECT_TRUE(waitUntil([&] { return inState(instance, 'T'); }, kTimeout));
  poprun.signal(SIGCONT);
  EXPECT_TRUE(poprun.waitFor([&] { return count(poprun.out(), "SIGCONT") == 2; })) << poprun.out();
  poprun.signal(SIGTERM);
  EXPECT_EQ(poprun.wait(), 143);
}

TEST(CtrlZ, StopsTheClockOfTheTimeLimit) {
  PoprunProcess poprun({.options = {"--timeout", "5", "--tag-output", "no"}, .child = {"wait", "9"}});
  const std::vector<pid_t> instances = poprun.waitReady(1);
  ASSERT_EQ(instances.size(), 1U);
  poprun.signal(SIGTSTP);
  ASSERT_TRUE(waitUntil([&] { return inState(poprun.pid(), 'T'); }, kTimeout));
  EXPECT_FALSE(poprun.waitFor([&] { return poprun.ended(); }, Milliseconds(5100))) << "longer than the limit";
  poprun.signal(SIGCONT);
  ::kill(instances[0], SIGUSR1);
  EXPECT_EQ(poprun.wait(), 9);
}

TEST(CtrlZ, StopsAPoprunThatWaitsForItsReader) {
  constexpr std::size_t kBytes = 500000;
  PoprunProcess poprun({.child = {"binary", std::to_string(kBytes)}});
  poprun.pauseReading();
  ASSERT_TRUE(poprun.waitFor([&] { return poprun.outputFull(); }));
  ASSERT_TRUE(poprun.waitFor([&] { return childNamed(poprun.pid(), "pop-keeper") < 0; }));
  EXPECT_TRUE(poprun.waitFor([&] {
    poprun.signal(SIGTSTP);  // the first may come before the job is over
    return inState(poprun.pid(), 'T');
  }));
  poprun.signal(SIGCONT);
  poprun.resumeReading();
  EXPECT_EQ(poprun.wait(), 0);
  EXPECT_TRUE(poprun.out() == binaryText(kBytes)) << poprun.out().size() << " bytes";
}

// As `ssh -t host poprun …` does.
TEST(CtrlZ, StopsNothingWhereNoShellCouldContinueIt) {
  Terminal terminal;
  PoprunProcess poprun({.options = {"--num-instances", "2", "--tag-output", "no"},
                        .child = {"say-signals"},
                        .descriptors = {{0, terminal.end()}},
                        .own_session = true});
  ASSERT_EQ(poprun.waitReady(2).size(), 2U);
  terminal.type("\x1a");
  EXPECT_TRUE(poprun.waitFor([&] { return count(poprun.out(), "SIGCONT") == 2; })) << poprun.out();
  terminal.type("\x03");
  EXPECT_EQ(poprun.wait(), 130);
}

TEST(CtrlZ, AStoppedJobCanBeKilled) {
  PoprunProcess poprun({.options = {"--num-instances", "2"}, .child = {"wait"}});
  ASSERT_EQ(poprun.waitReady(2).size(), 2U);
  poprun.signal(SIGTSTP);
  ASSERT_TRUE(waitUntil([&] { return inState(poprun.pid(), 'T'); }, kTimeout));
  poprun.signal(SIGKILL);
  EXPECT_TRUE(poprun.goneWithin(kTimeout));
}

}  // namespace
}  // namespace pop::testing
