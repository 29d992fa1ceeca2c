// SPDX-License-Identifier: Apache-2.0
#include "common/os/helper_program.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "common/os/helper_run.h"
#include "common/sys/process_end.h"
#include "common/sys/process_setup.h"
#include "tests/testing/temp_dir.h"

namespace pop::os {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::chrono::seconds kLong{20};

// Alone, as CTest runs each test: limits are a process's.
TEST(HelperProgram, HasTheLimitsThatWereThereBeforeOurs) {
  const rlimit few{321, 654};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  ASSERT_TRUE(sys::setUpForJobs().ok());
  rlimit ours{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &ours), 0);
  EXPECT_EQ(ours.rlim_cur, 654U);
  EXPECT_EQ(outputOf({"/bin/sh", "-c", "ulimit -Sn; ulimit -Hn"}, kLong).value(), "321\n654\n");
}

TEST(HelperProgram, LeadsItsGroupInOurSessionOrASessionOfItsOwnOrNothing) {
  for (const Leads leads : {Leads::kNothing, Leads::kGroup, Leads::kSession}) {
    Result<HelperProgram> program = HelperProgram::start({"sh", "-c", "kill -STOP $$"}, {0, 1, 2}, leads);
    ASSERT_TRUE(program.ok()) << program.status().message();
    const pid_t pid = program->pid();
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, WUNTRACED), pid);
    ASSERT_TRUE(WIFSTOPPED(status));
    EXPECT_EQ(::getpgid(pid), leads == Leads::kNothing ? ::getpgid(0) : pid);
    EXPECT_EQ(::getsid(pid), leads == Leads::kSession ? pid : ::getsid(0));
    ASSERT_EQ(::kill(pid, SIGKILL), 0);
    EXPECT_EQ(program->wait(kLong), SIGKILL);
    EXPECT_EQ(program->pid(), -1);
  }
}

// A process of its own starts it, and is killed.
TEST(HelperProgram, DiesWithUsWhereItIsToldTo) {
  sys::Pipe pipe = sys::makePipe().value();
  const pid_t starter = ::fork();
  if (starter == 0) {
    const Result<HelperProgram> program =
        HelperProgram::start({"sleep", "1000"}, {0, 1, 2}, Leads::kSession, AfterUs::kDies);
    const pid_t pid = program.ok() ? program.value().pid() : -1;
    static_cast<void>(!::write(pipe.write_end.get(), &pid, sizeof pid));
    ::pause();
    ::_exit(1);
  }
  pipe.write_end.reset();
  pid_t pid = -1;
  ASSERT_EQ(::read(pipe.read_end.get(), &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  ASSERT_GT(pid, 0);
  const sys::Fd end = sys::endOf(pid);
  ASSERT_EQ(::kill(starter, SIGKILL), 0);
  ASSERT_EQ(::waitpid(starter, nullptr, 0), starter);
  pollfd ended{end.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, 20000), 1);
}

TEST(HelperProgram, GoesWithItsObject) {
  pid_t pid = -1;
  {
    Result<HelperProgram> program = HelperProgram::start({"sleep", "600"}, {0, 1, 2});
    ASSERT_TRUE(program.ok());
    pid = program->pid();
    EXPECT_FALSE(program->endsWithin(std::chrono::milliseconds(0)));
    const HelperProgram moved = std::move(*program);
    EXPECT_EQ(::kill(pid, 0), 0) << "the object that it was moved from kills nothing";
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST(HelperProgram, ThatCannotBeStartedIsAnErrorAndLeavesNothing) {
  const testing::TempDir directory;
  const std::string script = directory.path() + "/script", not_executable = directory.path() + "/text";
  std::ofstream(script) << "#!/no/such/interpreter\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  std::ofstream(not_executable) << "text";
  for (const auto& [program, why] : std::map<std::string, std::string>{
           {"no-such-program", "starting no-such-program: No such file or directory"},
           {not_executable, "starting " + not_executable + ": Permission denied"},
           {script, "starting " + script + ": No such file or directory"}}) {
    EXPECT_EQ(HelperProgram::start({program}, {0, 1, 2}).status().message(), why);
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }
}

// Boost.Process would run our exit handlers in the child when it cannot execute a program.
TEST(HelperProgram, ThatCannotBeExecutedRunsNoExitHandlerOfOurs) {
  static int num_runs = 0;
  std::atexit([] { ++num_runs; });
  const testing::TempDir directory;
  const std::string script = directory.path() + "/script";
  std::ofstream(script) << "#!/no/such/interpreter\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  EXPECT_FALSE(HelperProgram::start({script}, {0, 1, 2}).ok());
  EXPECT_EQ(num_runs, 0);
}

TEST(HelperProgram, HasOfOurDescriptorsThoseThatAreMeantForItOnly) {
  const sys::Fd ours(::fcntl(0, F_DUPFD_CLOEXEC, 300));
  const sys::Fd handed_on(::fcntl(0, F_DUPFD, 400));
  ASSERT_TRUE(ours.valid() && handed_on.valid());
  const std::string listed = outputOf({"ls", "/proc/self/fd"}, kLong).value();
  EXPECT_THAT(listed, Not(HasSubstr(std::to_string(ours.get()) + '\n')));
  EXPECT_THAT(listed, HasSubstr(std::to_string(handed_on.get()) + '\n'));
}

TEST(HelperProgram, LeavesOurSignalsAsTheyWere) {
  sigset_t some, after;
  sigemptyset(&some);
  sigaddset(&some, SIGUSR1);
  ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, &some, nullptr), 0);
  Result<HelperProgram> program =
      HelperProgram::start({"grep", "-q", "SigBlk:.*0000$", "/proc/self/status"}, {0, 1, 2});
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->wait(kLong), 0);
  ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &after), 0);
  EXPECT_EQ(::sigismember(&after, SIGUSR1), 1);
  EXPECT_EQ(::sigismember(&after, SIGUSR2), 0);
}

}  // namespace
}  // namespace pop::os
