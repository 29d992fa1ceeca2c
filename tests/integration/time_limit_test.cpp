// SPDX-License-Identifier: Apache-2.0
// --timeout: what is still running is stopped, and the user reads where it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdlib.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/testing/poprun_process.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(TimeLimit, EndsTheJobWith124) {
  const Outcome result =
      run({.options = {"--num-instances", "2", "--timeout", "0.3", "--tag-output", "no"}, .child = {"wait"}});
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_EQ(result.err, "poprun: the job did not end within 0.3 s (--timeout); all instances were stopped\n");
}

TEST(TimeLimit, KillsWhatIgnoresSigtermAfterTheGrace) {
  const Outcome result =
      run({.options = {"--timeout", "0.2", "--kill-grace", "0.2"}, .child = {"ignore-term"}});
  EXPECT_EQ(result.exit_code, 124);
}

TEST(TimeLimit, IsNoMatterToAJobThatEndsBefore) {
  const Outcome result = run({.options = {"--timeout", "1000"}, .child = {"exit", "3"}});
  EXPECT_EQ(result.exit_code, 3);
}

TEST(TimeLimit, GivesWayToCtrlC) {
  const std::string script = "trap 'echo stopped' TERM; while :; do sleep 1000 & wait; done";
  PoprunProcess poprun({.options = {"--timeout", "4", "--kill-grace", "1000", "sh", "-c", script}});
  ASSERT_TRUE(poprun.waitFor([&] { return poprun.out().find("stopped") != std::string::npos; }))
      << poprun.out();
  // Again and again: signals of one kind that arrive together are one.
  while (!poprun.ended()) {
    poprun.signal(SIGINT);
    poprun.waitFor([] { return false; }, Milliseconds(100));
  }
  EXPECT_EQ(poprun.wait(), 130);
}

constexpr Milliseconds kDebuggerTimeout = 2 * kTimeout;

TEST(StackTraces, SayWhereEachInstanceHangs) {
  const Outcome result =
      run({.options = {"--num-instances", "2", "--timeout", "4", "--stack-traces"}, .child = {"wait"}},
          kDebuggerTimeout);
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_THAT(result.err, AllOf(HasSubstr("poprun: stack of instance 0 (pid "),
                                HasSubstr("poprun: stack of instance 1 (pid ")));
  // gdb says pause, /proc the kernel's name for it.
  EXPECT_THAT(result.err, HasSubstr("pause"));
}

TEST(StackTraces, SayThatGdbIsMissing) {
  const Outcome result = run({.options = {"--num-instances", "2", "--timeout", "1", "--stack-traces"},
                              .child = {"wait"},
                              .environment = {{"PATH", "/nowhere"}}},
                             kDebuggerTimeout);
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_THAT(result.err, HasSubstr("with gdb installed on this host, functions would be named"));
}

TEST(StackTraces, OfMoreInstancesThanDebuggersComeFromProc) {
  const Outcome result =
      run({.options = {"--num-instances", "12", "--timeout", "4", "--stack-traces"}, .child = {"wait"}},
          kDebuggerTimeout);
  EXPECT_EQ(result.exit_code, 124);
  for (int instance = 0; instance < 12; ++instance)
    EXPECT_THAT(result.err, HasSubstr("poprun: stack of instance " + std::to_string(instance) + " (pid "));
  EXPECT_THAT(result.err, HasSubstr("thread "));
}

// A stand-in for gdb, first in PATH, that runs `script`.
class StrangeDebugger {
 public:
  explicit StrangeDebugger(const std::string& script) {
    const std::string program = directory_.path() + "/gdb";
    std::ofstream(program) << "#!/bin/sh\n" << script << '\n';
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }

  /// The outcome of an instance that waits until the time limit.
  Outcome trace() const {
    return run({.options = {"--timeout", "4", "--stack-traces"},
                .child = {"wait"},
                .environment = {{"PATH", directory_.path() + ':' + std::getenv("PATH")}}},
               kDebuggerTimeout);
  }

 private:
  TempDir directory_;
};

TEST(StackTraces, DoNotWaitForWhatTheDebuggerLeavesBehind) {
  const StrangeDebugger gdb("sleep 1000 &");
  const Outcome result = gdb.trace();
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_THAT(result.err, HasSubstr("poprun: stack of instance 0 (pid "));
}

// One that has stopped the instance, as gdb does, and only begun to speak when its time limit has expired.
TEST(StackTraces, SayWhereAnInstanceWaitsThoughItsDebuggerHangs) {
  const StrangeDebugger gdb("kill -STOP $2; echo 'Thread 1 (Thread 0x7f):'; exec sleep 1000");
  const Outcome result = gdb.trace();
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_THAT(result.err, HasSubstr("pause"));
  EXPECT_THAT(result.err, Not(HasSubstr("Thread 1")));
}

}  // namespace
}  // namespace pop::testing
