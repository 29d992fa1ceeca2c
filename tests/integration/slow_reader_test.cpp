// SPDX-License-Identifier: Apache-2.0
// A reader that is late loses nothing, and one that goes away ends the job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/testing/poprun_process.h"
#include "tests/testing/test_child.h"

namespace pop::testing {
namespace {

TEST(SlowReader, LosesNothing) {
  constexpr int kInstances = 4;
  constexpr int kLines = 20000;
  constexpr std::size_t kBytes = 100;
  PoprunProcess poprun({.options = {"--num-instances", std::to_string(kInstances), "--tag-output", "no"},
                        .child = {"lines", std::to_string(kLines), std::to_string(kBytes)}});
  poprun.pauseReading();
  ASSERT_TRUE(poprun.waitFor([&] { return poprun.outputFull(); }));
  poprun.resumeReading();
  EXPECT_EQ(poprun.wait(), 0);
  EXPECT_EQ(poprun.out().size(), kInstances * kLines * kBytes);
  EXPECT_EQ(poprun.err().size(), kInstances * kLines * kBytes);
}

// The program ends long before its output is read: what is in the pipes then must still arrive.
TEST(SlowReader, GetsWhatAnEndedInstanceHadWritten) {
  constexpr std::size_t kBytes = 1000000;
  PoprunProcess poprun({.child = {"binary", std::to_string(kBytes)}});
  poprun.pauseReading();
  ASSERT_TRUE(poprun.waitFor([&] { return poprun.outputFull(); }));
  const auto instanceGone = [&] {
    return !poprun.ended() && childNamed(childNamed(poprun.pid(), "pop-keeper"), "pop_test_child") < 0;
  };
  ASSERT_TRUE(poprun.waitFor(instanceGone));
  poprun.resumeReading();
  EXPECT_EQ(poprun.wait(), 0);
  EXPECT_TRUE(poprun.out() == binaryText(kBytes)) << poprun.out().size() << " bytes";
}

TEST(ReaderThatGoesAway, EndsTheJobAsSigpipeWould) {
  PoprunProcess poprun({.options = {"--num-instances", "3"}, .child = {"flood"}});
  ASSERT_TRUE(poprun.waitFor([&] { return poprun.out().find('\n') != std::string::npos; }));
  poprun.closeOutput();
  EXPECT_EQ(poprun.wait(), 128 + SIGPIPE);
  EXPECT_EQ(poprun.leftNow(), "");
}

TEST(ReaderThatGoesAway, WhenTheJobIsOverHasNotReadAll) {
  PoprunProcess poprun({.child = {"binary", "500000"}});
  poprun.pauseReading();
  ASSERT_TRUE(poprun.waitFor([&] { return poprun.outputFull(); }));
  ASSERT_TRUE(poprun.waitFor([&] { return childNamed(poprun.pid(), "pop-keeper") < 0; }));
  ASSERT_FALSE(poprun.ended()) << "it waits for its reader";
  poprun.closeOutput();
  EXPECT_EQ(poprun.wait(), 128 + SIGPIPE);
}

TEST(ReaderThatGoesAway, EndsTheJobOnlyWhenSomethingIsWritten) {
  PoprunProcess poprun({.child = {"wait", "5"}});
  const std::vector<pid_t> instances = poprun.waitReady(1);
  ASSERT_EQ(instances.size(), 1U);
  poprun.closeOutput();
  ::kill(instances[0], SIGUSR1);
  EXPECT_EQ(poprun.wait(), 5);
}

}  // namespace
}  // namespace pop::testing
