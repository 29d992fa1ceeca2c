// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include "agent/keeper/descendants.h"
#include "bench/launch_hosts/beside_hosts.h"
#include "tests/testing/temp_dir.h"

namespace pop::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BenchCommand : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(adoptOrphans().ok()); }
  void TearDown() override { EXPECT_THAT(keeper::ownChildren(), IsEmpty()); }

  static RunResult shell(const std::string& script, std::chrono::milliseconds time_limit) {
    Result<RunResult> run = pop::bench::run({.argv = {"/bin/sh", "-c", script}, .time_limit = time_limit});
    EXPECT_TRUE(run.ok()) << run.status().message();
    return run.ok() ? run.value() : RunResult{};
  }

  // A program that prints all the time has filled the pipe again at each look.
  static RunResult watchSlowly(const std::string& script, std::chrono::milliseconds time_limit,
                               const std::function<void(pid_t)>& watch) {
    const auto look = [&](const std::string&, pid_t pid) {
      constexpr std::chrono::milliseconds kLongerThanFillingAPipe{5};
      const auto end = std::chrono::steady_clock::now() + kLongerThanFillingAPipe;
      while (std::chrono::steady_clock::now() < end) continue;
      watch(pid);
    };
    Result<RunResult> run =
        pop::bench::run({.argv = {"/bin/sh", "-c", script}, .time_limit = time_limit, .watch = look});
    EXPECT_TRUE(run.ok()) << run.status().message();
    return run.ok() ? run.value() : RunResult{};
  }
  static void onlyLook(pid_t) {}

  static constexpr std::chrono::milliseconds kAmple{30'000};
  static constexpr std::chrono::milliseconds kShort{100};
  static constexpr std::chrono::milliseconds kAmpleToSay{3'000};  // what a script says first
};

TEST_F(BenchCommand, TellsCodeAndOutput) {
  const RunResult run = shell("echo out; echo err >&2; exit 3", kAmple);
  EXPECT_EQ(run.end, End::kExited);
  EXPECT_EQ(run.code, 3);
  EXPECT_EQ(run.output, "out\nerr\n");
  EXPECT_FALSE(run.succeeded());
  EXPECT_GT(run.wall_s, 0);
}

TEST_F(BenchCommand, TellsTheSignal) {
  const RunResult run = shell("kill -9 $$", kAmple);
  EXPECT_EQ(run.end, End::kSignalled);
  EXPECT_EQ(run.code, SIGKILL);
}

TEST_F(BenchCommand, MoreOutputThanIsKeptIsStillReadAndCounted) {
  const Result<RunResult> run = pop::bench::run({.argv = {"/bin/sh", "-c", "head -c 1000000 /dev/zero"},
                                                 .time_limit = kAmple,
                                                 .kept_output_bytes = 10});
  ASSERT_TRUE(run.ok());
  EXPECT_TRUE(run.value().succeeded());
  EXPECT_EQ(run.value().output.size(), 10U);
  EXPECT_EQ(run.value().output_bytes, 1'000'000);
}

TEST_F(BenchCommand, WhatTakesTooLongIsEnded) {
  const RunResult run = shell("sleep 1000", kShort);
  EXPECT_EQ(run.end, End::kTimedOut);
  EXPECT_GE(run.wall_s, 0.1);
  EXPECT_LT(run.wall_s, 20);
}

TEST_F(BenchCommand, WhatIgnoresSigtermIsKilled) {
  const RunResult run = shell("trap '' TERM; echo deaf; while :; do sleep 1000; done", kAmpleToSay);
  EXPECT_EQ(run.end, End::kTimedOut);
  EXPECT_EQ(run.output, "deaf\n");
}

TEST_F(BenchCommand, WhatPrintsWithoutEndIsEnded) {
  EXPECT_EQ(watchSlowly("exec yes", kShort, onlyLook).end, End::kTimedOut);
}

TEST_F(BenchCommand, WhatPrintsWithoutEndAndIgnoresSigtermIsKilled) {
  EXPECT_EQ(watchSlowly("trap '' TERM; exec yes", kShort, onlyLook).end, End::kTimedOut);
}

TEST_F(BenchCommand, WhatIsLeftAndPrintsWithoutEndDoesNotKeepItsRunFromEnding) {
  const auto kill = [](pid_t pid) { ::kill(pid, SIGKILL); };
  EXPECT_EQ(watchSlowly("setsid yes & wait", kAmple, kill).end, End::kSignalled);
}

TEST_F(BenchCommand, AProcessInAnotherSessionDoesNotOutliveItsRun) {
  const RunResult run = shell("setsid sleep 1000 & echo $!; exit 0", kAmple);
  EXPECT_TRUE(run.succeeded());
  ASSERT_FALSE(run.output.empty());
  EXPECT_EQ(::kill(std::atoi(run.output.c_str()), 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST_F(BenchCommand, ABenchmarkThatIsKilledBesideItsHostsLeavesNothingButThem) {
  const pid_t host = ::fork();
  if (host == 0) ::pause(), ::_exit(0);
  const pop::testing::TempDir directory;
  const std::string pid_file = directory.path() + "/pid";
  const int code = runBesideHosts([&] {
    shell("setsid sleep 1000 & echo $! >" + pid_file + "; kill -TERM $PPID; sleep 1000", kAmple);
    return 0;
  });
  EXPECT_EQ(code, 1);
  std::ifstream file(pid_file);
  pid_t left = 0;
  ASSERT_TRUE(file >> left);
  EXPECT_EQ(::kill(left, 0), -1);
  EXPECT_EQ(::kill(host, 0), 0);
  ::kill(host, SIGKILL);
  EXPECT_EQ(::waitpid(host, nullptr, 0), host);
}

TEST_F(BenchCommand, AMissingProgramIsNamed) {
  const Result<RunResult> run = pop::bench::run({.argv = {"/no/such/program"}});
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(run.status().message(), HasSubstr("/no/such/program"));
}

TEST_F(BenchCommand, ProgramsAreFoundInPath) {
  EXPECT_THAT(findInPath("sh"), HasSubstr("/sh"));
  EXPECT_EQ(findInPath("no-such-program"), "");
}

}  // namespace
}  // namespace pop::bench
