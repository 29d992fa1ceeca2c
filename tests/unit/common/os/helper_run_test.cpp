// SPDX-License-Identifier: Apache-2.0
#include "common/os/helper_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <future>
#include <string>
#include <vector>

#include "tests/testing/temp_dir.h"
#include "tests/testing/tracer.h"

namespace pop::os {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::vector<std::string> shell(const std::string& script) {
  return {"/bin/sh", "-c", script};
}

Result<std::string> outputOfShell(const std::string& script, std::chrono::milliseconds timeout = 10s) {
  return outputOf(shell(script), timeout);
}

TEST(OutputOfAProgram, IsAllThatItPrints) {
  EXPECT_EQ(outputOfShell("echo one; echo two").value(), "one\ntwo\n");
  EXPECT_EQ(outputOfShell("true").value(), "");
  EXPECT_EQ(outputOfShell("head -c 300000 /dev/zero | tr '\\0' x").value(), std::string(300000, 'x'));
}

TEST(OutputOfAProgram, DoesNotWaitForItsErrorsToBeRead) {
  EXPECT_EQ(outputOfShell("head -c 300000 /dev/zero >&2; echo done").value(), "done\n");
}

TEST(OutputOfAProgram, ThatFailsIsItsExitCodeAndLastWords) {
  const Status failed = outputOfShell("echo no such thing >&2; exit 3").status();
  EXPECT_EQ(failed.code(), Code::kFailedPrecondition);
  EXPECT_EQ(failed.message(), "/bin/sh ended with exit code 3: no such thing");
  EXPECT_EQ(outputOfShell("exit 1").status().message(), "/bin/sh ended with exit code 1");
  EXPECT_EQ(outputOfShell("kill -9 $$").status().message(), "/bin/sh was killed by signal 9");
}

TEST(OutputOfAProgram, ThatIsNotThereIsAnErrorNamingIt) {
  EXPECT_THAT(outputOf({"/nowhere/program"}, 1s).status().message(),
              AllOf(HasSubstr("/nowhere/program"), HasSubstr("No such file")));
}

TEST(OutputOfAProgram, ThatDoesNotEndIsEndedWithAllItStarted) {
  const auto begin = std::chrono::steady_clock::now();
  const Status late = outputOfShell("sleep 600 & sleep 600", 50ms).status();
  EXPECT_EQ(late.code(), Code::kDeadlineExceeded);
  EXPECT_THAT(late.message(), HasSubstr("/bin/sh has not answered within 50 ms"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST(OutputOfAProgram, DoesNotWaitForWhatTheProgramLeavesRunning) {
  const Result<std::string> output = outputOfShell("sleep 600 & echo $!");
  ASSERT_TRUE(output.ok()) << output.status().message();
  EXPECT_EQ(::kill(std::stoi(output.value()), SIGKILL), 0) << "it goes on, and holds both streams";
}

// A traced program cannot be reaped until its tracer lets it go, as one that waits for a file server cannot.
TEST(OutputOfAProgram, ThatDoesNotGoIsNotWaitedForAndReapedLater) {
  const testing::TempDir directory;
  const std::string fifo = directory.path() + "/pid";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  auto late = std::async(std::launch::async,
                         [&] { return outputOfShell("echo $$ >" + fifo + "; exec sleep 600", 5s); });
  pid_t pid = -1;
  std::ifstream(fifo) >> pid;
  testing::Tracer tracer(pid);
  const bool holds = tracer.holds();
  const bool in_time = late.wait_for(15s) == std::future_status::ready;
  tracer.letGo();
  EXPECT_EQ(late.get().code(), Code::kDeadlineExceeded);
  if (!holds) GTEST_SKIP() << "nobody may be traced here";
  EXPECT_TRUE(in_time);
  EXPECT_TRUE(outputOfShell("true").ok());
  EXPECT_EQ(::kill(pid, 0), -1) << "the next program's end has reaped it";
}

TEST(OutputOfAProgram, IsMadeWithDefaultSignalsWithoutInputAndInAGroupOfItsOwn) {
  ::signal(SIGPIPE, SIG_IGN);
  const auto pipes = outputOfShell("kill -PIPE $$");
  ::signal(SIGPIPE, SIG_DFL);
  EXPECT_EQ(pipes.status().message(), "/bin/sh was killed by signal 13");
  EXPECT_EQ(outputOfShell("cat").value(), "");
  EXPECT_EQ(outputOfShell("set -- $(cut -d' ' -f1,5 /proc/$$/stat); test $1 = $2 && echo leads").value(),
            "leads\n");
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
  const HelperEvents events{.started = [&](std::size_t) { most = std::max(most, ++running); },
                            .printed = {},
                            .ended =
                                [&](std::size_t, const HelperEnd&) {
                                  --running;
                                  ++ended;
                                }};
  runInParallel(std::vector(9, shell("true")), 3, events);
  EXPECT_EQ(most, 3);
  EXPECT_EQ(ended, 9);
}

TEST(RunInParallel, HearsWhatTheyPrint) {
  std::vector<std::string> heard(2);
  const HelperEvents events{
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
  const HelperEvents events{.started = {},
                            .printed = [](std::size_t, std::string_view) { ::kill(::getpid(), SIGTERM); },
                            .ended = {}};
  const auto ends =
      runInParallel({shell("echo; exec sleep 600"), shell("sleep 600 & wait"), shell("true")}, 2, events);
  ::signal(SIGTERM, SIG_DFL);
  EXPECT_EQ(last_signal, SIGTERM);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  for (const HelperEnd& end : ends) EXPECT_EQ(end.status.code(), Code::kCancelled);
}

TEST(RunInParallel, ASignalEndsAProgramThatHasClosedItsStreams) {
  const testing::TempDir directory;
  const std::string fifo = directory.path() + "/closed";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  ::signal(SIGTERM, [](int signal) { last_signal = signal; });
  const HelperEvents events{.started = {},
                            .printed = [](std::size_t, std::string_view) { ::kill(::getpid(), SIGTERM); },
                            .ended = {}};
  const auto ends = runInParallel({shell("exec >&- 2>&-; echo >" + fifo + "; exec sleep 600"),
                                   shell("read closed <" + fifo + "; echo; exec sleep 600")},
                                  2, events, 10s);
  ::signal(SIGTERM, SIG_DFL);
  for (const HelperEnd& end : ends) EXPECT_EQ(end.status.code(), Code::kCancelled) << end.status.message();
}

TEST(RunInParallel, AnIgnoredSignalCancelsNothing) {
  ::signal(SIGHUP, SIG_IGN);  // as under nohup
  const HelperEvents events{.started = {},
                            .printed = [](std::size_t, std::string_view) { ::kill(::getpid(), SIGHUP); },
                            .ended = {}};
  const auto ends = runInParallel({shell("echo"), shell("true")}, 1, events);
  ::signal(SIGHUP, SIG_DFL);
  for (const HelperEnd& end : ends) EXPECT_TRUE(end.status.ok()) << end.status.message();
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
}  // namespace pop::os
