// SPDX-License-Identifier: Apache-2.0
#include "common/sys/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>

#include "tests/testing/temp_dir.h"
#include "tests/testing/tracer.h"

namespace pop::sys {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

Result<std::string> shell(const std::string& script, std::chrono::milliseconds timeout = 10s) {
  return outputOf({"/bin/sh", "-c", script}, timeout);
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

// What its tracer keeps is not to be reaped, as what waits for a file server is not.
TEST(OutputOfAProgram, ThatDoesNotGoIsNotWaitedForAndReapedLater) {
  const testing::TempDir directory;
  const std::string fifo = directory.path() + "/pid";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  auto late =
      std::async(std::launch::async, [&] { return shell("echo $$ >" + fifo + "; exec sleep 600", 5s); });
  pid_t pid = -1;
  std::ifstream(fifo) >> pid;
  testing::Tracer tracer(pid);
  const bool holds = tracer.holds();
  const bool in_time = late.wait_for(15s) == std::future_status::ready;
  tracer.letGo();
  EXPECT_EQ(late.get().code(), Code::kDeadlineExceeded);
  if (!holds) GTEST_SKIP() << "nobody may be traced here";
  EXPECT_TRUE(in_time);
  EXPECT_TRUE(shell("true").ok());
  EXPECT_EQ(::kill(pid, 0), -1) << "the next program's end has reaped it";
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

TEST(OwnProgram, IsFoundFromBinAndFromLibexecOnceInstalled) {
  const pop::testing::TempDir prefix;
  const std::string bin = prefix.path() + "/bin/", libexec = prefix.path() + "/libexec/poprun/";
  for (const std::string& program : {bin + "poprun", libexec + "poprun-hosts"}) {
    std::filesystem::create_directories(program.substr(0, program.rfind('/')));
    std::ofstream(program).close();
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }
  for (const std::string& self : {bin + "popdist-agent", libexec + "popdist-agent-service"}) {
    EXPECT_EQ(programOf(self, "poprun"), bin + "poprun");
    EXPECT_EQ(programOf(self, "poprun-hosts"), libexec + "poprun-hosts");
    EXPECT_EQ(programOf(self, "missing"), self.substr(0, self.rfind('/')) + "/missing");
  }
}

}  // namespace
}  // namespace pop::sys
