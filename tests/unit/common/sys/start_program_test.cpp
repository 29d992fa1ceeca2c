// SPDX-License-Identifier: Apache-2.0
#include "common/sys/start_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>

#include "common/sys/process_setup.h"
#include "common/sys/program.h"

namespace pop::sys {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Alone, as CTest runs each test: limits are a process's.
TEST(StartedProgram, HasTheLimitsThatWereThereBeforeOurs) {
  const rlimit few{321, 654};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  ASSERT_TRUE(setUpForJobs().ok());
  rlimit ours{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &ours), 0);
  EXPECT_EQ(ours.rlim_cur, 654U);
  EXPECT_EQ(outputOf({"/bin/sh", "-c", "ulimit -Sn; ulimit -Hn"}, std::chrono::seconds(10)).value(),
            "321\n654\n");
}

TEST(StartedProgram, LeadsItsGroupInOurSessionOrASessionOfItsOwn) {
  for (const Leads leads : {Leads::kGroup, Leads::kSession}) {
    const Result<pid_t> pid = startProgram({"sh", "-c", "kill -STOP $$"}, {0, 1, 2}, leads);
    ASSERT_TRUE(pid.ok()) << pid.status().message();
    int status = 0;
    ASSERT_EQ(::waitpid(pid.value(), &status, WUNTRACED), pid.value());
    ASSERT_TRUE(WIFSTOPPED(status));
    EXPECT_EQ(::getpgid(pid.value()), pid.value());
    EXPECT_EQ(::getsid(pid.value()), leads == Leads::kSession ? pid.value() : ::getsid(0));
    ASSERT_EQ(::kill(pid.value(), SIGKILL), 0);
    ASSERT_EQ(::waitpid(pid.value(), &status, 0), pid.value());
  }
}

TEST(StartedProgram, ThatIsNotThereIsAnErrorAndLeavesNothing) {
  const Status failed = startProgram({"no-such-program"}, {0, 1, 2}).status();
  EXPECT_THAT(failed.message(), AllOf(HasSubstr("no-such-program"), HasSubstr("No such file")));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(StartedProgram, LeavesOurSignalsAsTheyWere) {
  sigset_t some, after;
  sigemptyset(&some);
  sigaddset(&some, SIGUSR1);
  ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, &some, nullptr), 0);
  const Result<pid_t> pid = startProgram({"grep", "-q", "SigBlk:.*0000$", "/proc/self/status"}, {0, 1, 2});
  ASSERT_TRUE(pid.ok());
  int status = -1;
  ASSERT_EQ(::waitpid(pid.value(), &status, 0), pid.value());
  EXPECT_EQ(status, 0);
  ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &after), 0);
  EXPECT_EQ(::sigismember(&after, SIGUSR1), 1);
  EXPECT_EQ(::sigismember(&after, SIGUSR2), 0);
}

}  // namespace
}  // namespace pop::sys
