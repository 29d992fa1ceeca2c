// SPDX-License-Identifier: Apache-2.0
// The first instance that fails decides: its code is poprun's, its name is in the message, the others are
// stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/testing/poprun_process.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr Milliseconds kGrace{5000};

TEST(FirstFailure, DecidesTheExitCodeAndStopsTheOthers) {
  PoprunProcess poprun({.options = {"--num-instances", "4", "--kill-grace", "1000"}, .child = {"wait", "7"}});
  const std::vector<pid_t> instances = poprun.waitReady(4);
  ASSERT_EQ(instances.size(), 4U);
  ::kill(instances[2], SIGUSR1);
  EXPECT_EQ(poprun.wait(), 7);
  EXPECT_THAT(poprun.err(), HasSubstr("instance 2"));
  EXPECT_THAT(poprun.err(), HasSubstr("pid " + std::to_string(instances[2])));
  EXPECT_THAT(poprun.err(), HasSubstr("exited with code 7"));
  EXPECT_EQ(poprun.err().rfind("poprun: "), 0U) << "one instance is named: " << poprun.err();
}

TEST(SuccessOfOne, DoesNotStopTheOthers) {
  PoprunProcess poprun({.options = {"--num-instances", "2"}, .child = {"wait", "0"}});
  const std::vector<pid_t> instances = poprun.waitReady(2);
  ASSERT_EQ(instances.size(), 2U);
  ::kill(instances[0], SIGUSR1);
  ASSERT_TRUE(poprun.waitFor([&] { return !statOf(instances[0]); }));
  EXPECT_TRUE(statOf(instances[1]).has_value());
  ::kill(instances[1], SIGUSR1);
  EXPECT_EQ(poprun.wait(), 0);
  EXPECT_EQ(poprun.err(), "");
}

TEST(InstanceThatIgnoresSigterm, IsKilledAfterTheGrace) {
  const Clock::time_point begin = Clock::now();
  PoprunProcess poprun({.options = {"--num-instances", "2"}, .child = {"ignore-term"}});
  const std::vector<pid_t> instances = poprun.waitReady(2);
  ASSERT_EQ(instances.size(), 2U);
  ::kill(instances[1], SIGKILL);
  EXPECT_EQ(poprun.wait(), 128 + SIGKILL);
  EXPECT_GE(Clock::now() - begin, kGrace);
  EXPECT_THAT(poprun.err(), HasSubstr("instance 1"));
}

TEST(AllFailingAtOnce, NamesOneOfThem) {
  const Outcome result = run({.options = {"--num-instances", "16", "sh", "-c", "exit $((RANK + 10))"}});
  EXPECT_GE(result.exit_code, 10);
  EXPECT_LT(result.exit_code, 26);
  EXPECT_THAT(result.err, HasSubstr("instance " + std::to_string(result.exit_code - 10) + " of sh"));
}

}  // namespace
}  // namespace pop::testing
