// SPDX-License-Identifier: Apache-2.0
#include "common/contract/exit_code.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace pop::contract {
namespace {

// The end of a real child that runs `body`.
ExitStatus endOf(const std::function<void()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    body();
    ::_exit(0);
  }
  int wait_status = -1;
  EXPECT_EQ(::waitpid(pid, &wait_status, 0), pid);
  return exitStatusFromWait(wait_status);
}

void dieOf(int signal) {
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

TEST(ExitCodes, AreTheDocumentedNumbers) {
  EXPECT_EQ(kExitTimeout, 124);
  EXPECT_EQ(kExitLauncherFailed, 125);
  EXPECT_EQ(kExitCannotExecute, 126);
  EXPECT_EQ(kExitNotFound, 127);
  EXPECT_EQ(kExitInterrupted, 130);
  EXPECT_EQ(kExitInterrupted, kExitSignalBase + SIGINT);
}

TEST(ExitStatus, OfARealChildIsItsCode) {
  EXPECT_EQ(endOf([] { ::_exit(0); }), (ExitStatus{.code = 0}));
  EXPECT_EQ(endOf([] { ::_exit(3); }), (ExitStatus{.code = 3}));
  EXPECT_EQ(endOf([] { ::_exit(255); }), (ExitStatus{.code = 255}));
}

TEST(ExitStatus, OfARealChildIsTheSignalThatKilledIt) {
  for (const int signal : {SIGKILL, SIGTERM, SIGSEGV}) {
    const ExitStatus status = endOf([signal] { dieOf(signal); });
    EXPECT_EQ(status.signal, signal);
    EXPECT_EQ(status.code, 0);
    EXPECT_FALSE(status.success());
  }
}

TEST(ExitStatus, KnowsTheCoreDumpBit) {
  EXPECT_TRUE(exitStatusFromWait(SIGSEGV | WCOREFLAG).core_dumped);
  EXPECT_FALSE(exitStatusFromWait(SIGSEGV).core_dumped);
}

TEST(ExitStatus, OnlyACodeOfZeroIsSuccess) {
  EXPECT_TRUE((ExitStatus{}).success());
  EXPECT_FALSE((ExitStatus{.code = 1}).success());
  EXPECT_FALSE((ExitStatus{.signal = SIGTERM}).success());
}

TEST(ShellExitCode, IsTheCodeOr128PlusTheSignal) {
  EXPECT_EQ(shellExitCode({.code = 0}), 0);
  EXPECT_EQ(shellExitCode({.code = 7}), 7);
  EXPECT_EQ(shellExitCode({.signal = SIGKILL}), 137);
  EXPECT_EQ(shellExitCode({.signal = SIGSEGV}), 139);
  EXPECT_EQ(shellExitCode({.signal = SIGTERM}), 143);
}

TEST(Describe, SaysHowAProcessEnded) {
  EXPECT_EQ(describe({.code = 3}), "exited with code 3");
  EXPECT_EQ(describe({.code = 0}), "exited with code 0");
  EXPECT_EQ(describe({.signal = SIGKILL}), "was killed by SIGKILL");
  EXPECT_EQ(describe({.signal = SIGSEGV, .core_dumped = true}), "was killed by SIGSEGV (core dumped)");
  EXPECT_EQ(describe({.signal = 40}), "was killed by signal 40") << "real-time signals have no names";
}

}  // namespace
}  // namespace pop::contract
