// SPDX-License-Identifier: Apache-2.0
// A job that fails and runs again, as a whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "tests/testing/poprun_process.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

std::ptrdiff_t readies(const std::string& out) {
  const std::vector<std::string> lines = linesOf(out);
  return std::count_if(lines.begin(), lines.end(),
                       [](const std::string& line) { return line.starts_with("ready"); });
}

std::vector<std::string> threeInstances(const std::string& max_restarts) {
  return {"--num-instances", "3", "--tag-output", "no", "--max-restarts", max_restarts};
}

TEST(Restart, RunsTheWholeJobAgainUntilItSucceeds) {
  const Outcome result = run({.options = threeInstances("5"), .child = {"fail-until", "2", "7"}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GE(readies(result.out), 3 + 1 + 1) << "all of the last attempt, and who failed before";
  EXPECT_THAT(result.err, HasSubstr("instance 2 of"));
  EXPECT_THAT(result.err, HasSubstr("exited with code 7"));
  EXPECT_THAT(result.err, HasSubstr("(restart 1 of 5)"));
  EXPECT_THAT(result.err, HasSubstr("(restart 2 of 5)"));
}

TEST(Restart, GivesUpWithTheProgramsCode) {
  const Outcome result = run({.options = threeInstances("2"), .child = {"fail-until", "9", "7"}});
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_THAT(result.err, HasSubstr("after 2 restarts"));
}

TEST(Restart, WithoutTheOptionThereIsNone) {
  const Outcome result = run({.options = {"--num-instances", "3"}, .child = {"fail-until", "1", "7"}});
  EXPECT_EQ(result.exit_code, 7);
}

TEST(Restart, DoesNotTryAgainWhatCannotBeStarted) {
  const Outcome result = run({.options = {"--max-restarts", "5", "/nonexistent/program"}});
  EXPECT_EQ(result.exit_code, 127);
  EXPECT_THAT(result.err, HasSubstr("; it is not started again: a restart would fail the same way\n"));
}

TEST(Restart, BeginsOnlyWhenNothingOfTheLastAttemptIsLeft) {
  PoprunProcess poprun({.options = {"--num-instances", "2", "--tag-output", "no", "--max-restarts", "1"},
                        .child = {"leave-daemon-once", "3"}});
  ASSERT_EQ(poprun.waitReady(2).size(), 2U) << poprun.err();
  const std::vector<pid_t> there = processesWith(poprun.token());
  EXPECT_EQ(there.size(), 4U) << "poprun, its keeper and two instances: " << describeProcesses(there);
  poprun.signal(SIGTERM);
  EXPECT_EQ(poprun.wait(), 143);
}

TEST(Restart, TheSummaryHasTheLastErrorsOfTheLastAttemptOnly) {
  const Outcome result = run(
      {.options = {"--max-restarts", "1", "sh", "-c", "echo attempt $POPDIST_RESTART_COUNT >&2; exit 3"}});
  EXPECT_THAT(result.err, HasSubstr("its last lines on stderr:\n    attempt 1\n"));
}

TEST(Restart, TheUserEndsTheWaitForIt) {
  PoprunProcess poprun(
      {.options = {"--max-restarts", "1", "--restart-delay", "1000"}, .child = {"exit", "3"}});
  ASSERT_TRUE(poprun.waitFor([&] { return poprun.err().find("(restart 1 of 1)") != std::string::npos; }));
  poprun.signal(SIGINT);
  EXPECT_EQ(poprun.wait(), 130);
  EXPECT_EQ(poprun.leftNow(), "");
}

TEST(Restart, OfTheRendezvousLetsOnlyTheNewAttemptIn) {
  // Every attempt finds a socket of its own: the name is in its environment.
  const Outcome result = run(
      {.options = {"--max-restarts", "1", "sh", "-c", "echo $POPDIST_AGENT_SOCKET $POPDIST_JOB_ID; exit 3"}});
  const std::vector<std::string> lines = linesOf(result.out);
  ASSERT_EQ(lines.size(), 2U) << result.out;
  EXPECT_NE(lines[0], lines[1]);
}

}  // namespace
}  // namespace pop::testing
