// SPDX-License-Identifier: Apache-2.0
// poprun's output has no reader and its pipe is full: the job waits, but the user can still end it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/testing/poprun_process.h"

namespace pop::testing {
namespace {

constexpr int kInstances = 3;

// A shell says 130 for both: poprun's own code, and its death of the second SIGINT while it waits for its
// reader.
MATCHER(ByCtrlC, "") {
  return arg == 130 || arg == -SIGINT;
}

class BlockedOutput : public ::testing::Test {
 protected:
  BlockedOutput()
      : poprun_({.options = {"--num-instances", std::to_string(kInstances), "--kill-grace", "60"},
                 .child = {"flood"}}) {}

  // True once poprun takes no more, and so all processes wait: each look finds them asleep.
  bool block() {
    poprun_.pauseReading();
    int asleep_in_a_row = 0;
    return poprun_.waitFor([&] {
      asleep_in_a_row = poprun_.outputFull() && allSleep() ? asleep_in_a_row + 1 : 0;
      return asleep_in_a_row > 20;
    });
  }

  bool allSleep() {
    int sleeping = 0;
    for (const pid_t pid : processesWith(poprun_.token())) {
      const ProcessStat stat = statOf(pid).value_or(ProcessStat{});
      if (stat.state == 'S') ++sleeping;
      if (stat.name == "pop_test_child") instance_ = pid;
    }
    return sleeping == 2 + kInstances;  // and poprun and its keeper
  }

  PoprunProcess poprun_;
  pid_t instance_ = -1;
};

TEST_F(BlockedOutput, DoesNotKeepTwoCtrlCFromEndingTheJob) {
  ASSERT_TRUE(block());
  EXPECT_THAT(poprun_.interruptUntilEnd(), ByCtrlC());
}

TEST_F(BlockedOutput, DoesNotKeepTwoCtrlCFromEndingAJobThatFailed) {
  ASSERT_TRUE(block());
  ::kill(instance_, SIGKILL);
  ASSERT_TRUE(poprun_.waitFor([this] { return !statOf(instance_); }));
  EXPECT_THAT(poprun_.interruptUntilEnd(), ByCtrlC());
}

TEST_F(BlockedOutput, EndsTheJobWhenItsReaderGoesAway) {
  ASSERT_TRUE(block());
  poprun_.closeOutput();
  EXPECT_EQ(poprun_.wait(), 128 + SIGPIPE);
}

// Output from before the end arrives, however late it is read.
TEST_F(BlockedOutput, IsDeliveredAfterOneCtrlC) {
  ASSERT_TRUE(block());
  poprun_.signal(SIGINT);
  ASSERT_TRUE(poprun_.waitFor([this] { return !statOf(instance_); }));
  poprun_.resumeReading();
  EXPECT_EQ(poprun_.wait(), 130);
  EXPECT_EQ(poprun_.out().back(), '\n');
}

}  // namespace
}  // namespace pop::testing
