// SPDX-License-Identifier: Apache-2.0
#include "common/sys/parallel_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace pop::sys {
namespace {

std::vector<std::string> shell(const std::string& script) {
  return {"/bin/sh", "-c", script};
}

TEST(RunInParallel, SaysHowEachEnded) {
  const auto ends =
      runInParallel({shell("exit 0"), shell("echo why >&2; exit 3"), {"/nowhere/program"}}, 2, {});
  ASSERT_EQ(ends.size(), 3U);
  EXPECT_TRUE(ends[0].status.ok());
  EXPECT_EQ(ends[1].exit_code, 3);
  EXPECT_EQ(ends[1].errors, "why\n");
  EXPECT_EQ(ends[1].status.message(), "/bin/sh ended with exit code 3: why");
  EXPECT_EQ(ends[2].status.code(), Code::kNotFound);
  EXPECT_EQ(ends[2].exit_code, -1);
}

TEST(RunInParallel, RunsSoManyAtATime) {
  int running = 0, most = 0, ended = 0;
  const ProgramEvents events{.started = [&](std::size_t) { most = std::max(most, ++running); },
                             .printed = {},
                             .ended =
                                 [&](std::size_t, const ProgramEnd&) {
                                   --running;
                                   ++ended;
                                 }};
  runInParallel(std::vector(9, shell("true")), 3, events);
  EXPECT_EQ(most, 3);
  EXPECT_EQ(ended, 9);
}

TEST(RunInParallel, HearsWhatTheyPrint) {
  std::vector<std::string> heard(2);
  const ProgramEvents events{
      .started = {}, .printed = [&](std::size_t i, std::string_view text) { heard[i] += text; }, .ended = {}};
  runInParallel({shell("echo a; echo b"), shell("head -c 300000 /dev/zero | tr '\\0' x")}, 2, events);
  EXPECT_EQ(heard[0], "a\nb\n");
  EXPECT_EQ(heard[1].size(), 300000U);
}

TEST(RunInParallel, OfNothingIsNothing) {
  EXPECT_TRUE(runInParallel({}, 4, {}).empty());
}

volatile sig_atomic_t last_signal = 0;

TEST(RunInParallel, ASignalEndsAllAndIsDeliveredAfterwards) {
  ::signal(SIGTERM, [](int signal) { last_signal = signal; });
  const auto begin = std::chrono::steady_clock::now();
  const ProgramEvents events{.started = {},
                             .printed = [](std::size_t, std::string_view) { ::kill(::getpid(), SIGTERM); },
                             .ended = {}};
  const auto ends =
      runInParallel({shell("echo; exec sleep 600"), shell("sleep 600 & wait"), shell("true")}, 2, events);
  ::signal(SIGTERM, SIG_DFL);
  EXPECT_EQ(last_signal, SIGTERM);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  for (const ProgramEnd& end : ends) EXPECT_EQ(end.status.code(), Code::kCancelled);
}

TEST(RunInParallel, AnIgnoredSignalCancelsNothing) {
  ::signal(SIGHUP, SIG_IGN);  // as under nohup
  const ProgramEvents events{.started = {},
                             .printed = [](std::size_t, std::string_view) { ::kill(::getpid(), SIGHUP); },
                             .ended = {}};
  const auto ends = runInParallel({shell("echo"), shell("true")}, 1, events);
  ::signal(SIGHUP, SIG_DFL);
  for (const ProgramEnd& end : ends) EXPECT_TRUE(end.status.ok()) << end.status.message();
}

TEST(RunInParallel, WhoHasNotEndedInTimeIsKilledAndTheOthersGoOn) {
  const auto begin = std::chrono::steady_clock::now();
  const auto ends = runInParallel(
      {shell("echo late >&2; sleep 600 & wait"), shell("exec >&- 2>&-; sleep 600"), shell("echo well")}, 1,
      {}, std::chrono::seconds(3));  // ample for what a script says first
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  for (const std::size_t late : {0U, 1U}) {
    EXPECT_EQ(ends[late].status.code(), Code::kDeadlineExceeded);
    EXPECT_EQ(ends[late].exit_code, -1);
  }
  EXPECT_EQ(ends[0].errors, "late\n");
  EXPECT_TRUE(ends[2].status.ok()) << ends[2].status.message();
}

TEST(RunInParallel, ProgramsHaveASessionOfTheirOwnWithoutATerminal) {
  const auto ends = runInParallel({shell("set -- $(cut -d' ' -f1,6 /proc/$$/stat); test $1 = $2")}, 1, {});
  EXPECT_TRUE(ends[0].status.ok()) << ends[0].status.message();
}

TEST(RunInForeground, GivesTheExitCode) {
  EXPECT_EQ(runInForeground(shell("exit 4")).value(), 4);
  EXPECT_EQ(runInForeground(shell("kill -9 $$")).value(), 137);
  EXPECT_EQ(runInForeground({"/nowhere/program"}).status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace pop::sys
