// SPDX-License-Identifier: Apache-2.0
#include "common/sys/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>

namespace pop::sys {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

Result<std::string> shell(const std::string& script, std::chrono::milliseconds patience = 10s) {
  return outputOf({"/bin/sh", "-c", script}, patience);
}

TEST(OutputOfAProgram, IsAllThatItPrints) {
  EXPECT_EQ(shell("echo one; echo two").value(), "one\ntwo\n");
  EXPECT_EQ(shell("true").value(), "");
  EXPECT_EQ(shell("head -c 300000 /dev/zero | tr '\\0' x").value(), std::string(300000, 'x'));
}

TEST(OutputOfAProgram, DoesNotWaitForItsErrorsToBeRead) {
  EXPECT_EQ(shell("head -c 300000 /dev/zero >&2; echo done").value(), "done\n");
}

TEST(OutputOfAProgram, ThatFailsIsItsExitCodeAndLastWords) {
  const Status failed = shell("echo no such thing >&2; exit 3").status();
  EXPECT_EQ(failed.code(), Code::kFailedPrecondition);
  EXPECT_EQ(failed.message(), "/bin/sh ended with exit code 3: no such thing");
  EXPECT_EQ(shell("exit 1").status().message(), "/bin/sh ended with exit code 1");
  EXPECT_EQ(shell("kill -9 $$").status().message(), "/bin/sh was killed by signal 9");
}

TEST(OutputOfAProgram, ThatIsNotThereIsAnErrorNamingIt) {
  EXPECT_THAT(outputOf({"/nowhere/program"}, 1s).status().message(),
              AllOf(HasSubstr("/nowhere/program"), HasSubstr("No such file")));
}

TEST(OutputOfAProgram, ThatDoesNotEndIsEndedWithAllItStarted) {
  const auto begin = std::chrono::steady_clock::now();
  const Status late = shell("sleep 600 & sleep 600", 50ms).status();
  EXPECT_EQ(late.code(), Code::kDeadlineExceeded);
  EXPECT_THAT(late.message(), HasSubstr("/bin/sh has not answered within 50 ms"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST(OutputOfAProgram, IsMadeWithDefaultSignalsWithoutInputAndInAGroupOfItsOwn) {
  ::signal(SIGPIPE, SIG_IGN);
  const auto pipes = shell("kill -PIPE $$");
  ::signal(SIGPIPE, SIG_DFL);
  EXPECT_EQ(pipes.status().message(), "/bin/sh was killed by signal 13");
  EXPECT_EQ(shell("cat").value(), "");
  EXPECT_EQ(shell("set -- $(cut -d' ' -f1,5 /proc/$$/stat); test $1 = $2 && echo leads").value(), "leads\n");
}

TEST(OwnProgram, IsBesideThisOneUnlessInstalled) {
  EXPECT_THAT(ownProgram("popdist-topology"), ::testing::EndsWith("/tests/popdist-topology"));
}

}  // namespace
}  // namespace pop::sys
