// SPDX-License-Identifier: Apache-2.0
// poprun's exit code is what a shell would have said of the program, or 125 for poprun's own failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/testing/poprun_process.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

class ProgramsCode : public ::testing::TestWithParam<int> {};

TEST_P(ProgramsCode, IsPopruns) {
  const int code = GetParam();
  const Outcome result = run({.child = {"exit", std::to_string(code)}});
  EXPECT_EQ(result.exit_code, code);
  if (code == 0) {
    EXPECT_EQ(result.err, "");
  } else {
    EXPECT_THAT(result.err, HasSubstr("exited with code " + std::to_string(code)));
  }
}

INSTANTIATE_TEST_SUITE_P(Sample, ProgramsCode, ::testing::Values(0, 1, 2, 3, 42, 125, 126, 127, 255));

constexpr int kCodesOfATest = 32;

class ProgramsCodesFrom : public ::testing::TestWithParam<int> {};

TEST_P(ProgramsCodesFrom, AreAllPassedOn) {
  for (int code = GetParam(); code < std::min(GetParam() + kCodesOfATest, 256); ++code)
    ASSERT_EQ(run({.child = {"exit", std::to_string(code)}}).exit_code, code);
}

INSTANTIATE_TEST_SUITE_P(All, ProgramsCodesFrom, ::testing::Range(1, 256, kCodesOfATest),
                         ::testing::PrintToStringParamName());

class ProgramsSignal : public ::testing::TestWithParam<int> {};

TEST_P(ProgramsSignal, BecomesACodeAbove128) {
  const Outcome result = run({.child = {"signal", std::to_string(GetParam())}});
  EXPECT_EQ(result.exit_code, 128 + GetParam());
  EXPECT_THAT(result.err, HasSubstr("was killed by SIG" + std::string(sigabbrev_np(GetParam()))));
}

INSTANTIATE_TEST_SUITE_P(EveryFatalOne, ProgramsSignal,
                         ::testing::Values(SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE,
                                           SIGKILL, SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM,
                                           SIGSTKFLT, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGIO, SIGPWR,
                                           SIGSYS));

// A file, alone in its directory, that most tests cannot execute.
class Unexecutable {
 public:
  Unexecutable(const std::string& name, const std::string& content, mode_t mode)
      : path_(directory() + '/' + name) {
    std::ofstream(path_) << content;
    EXPECT_EQ(::chmod(path_.c_str(), mode), 0);
  }

  const std::string& directory() const { return directory_.path(); }
  const std::string& path() const { return path_; }

 private:
  const TempDir directory_;
  const std::string path_;
};

TEST(ExitCode, OfASignalWithoutAName) {
  const Outcome result = run({.child = {"signal", "40"}});
  EXPECT_EQ(result.exit_code, 168);
  EXPECT_THAT(result.err, HasSubstr("was killed by signal 40"));
}

TEST(ExitCode, Is127ForAProgramThatDoesNotExist) {
  const Outcome by_path = run({.options = {"/no/such/program"}});
  EXPECT_EQ(by_path.exit_code, 127);
  EXPECT_THAT(by_path.err, HasSubstr("/no/such/program"));

  const Outcome by_name = run({.options = {"--num-instances", "3", "no-such-program-anywhere"}});
  EXPECT_EQ(by_name.exit_code, 127);
  EXPECT_THAT(by_name.err, HasSubstr("no-such-program-anywhere"));
  EXPECT_THAT(by_name.err, HasSubstr("PATH"));
}

TEST(ExitCode, Is127ForAProgramOfTheWorkingDirectoryThatPathDoesNotName) {
  const Unexecutable file("poprun-here", "#!/bin/sh\n", 0755);
  for (const Outcome& result : {run({.options = {"poprun-here"}, .directory = file.directory()}),
                                run({.options = {"--wdir", file.directory(), "poprun-here"}})}) {
    EXPECT_EQ(result.exit_code, 127);
    EXPECT_THAT(result.err, HasSubstr("the one in the working directory is ./poprun-here"));
  }
}

TEST(ExitCode, IsThatOfAProgramInARelativeDirectoryOfPathSeenFromItsWorkingDirectory) {
  const Unexecutable file("poprun-here", "#!/bin/sh\nexit 7\n", 0755);
  const Outcome result = run(
      {.options = {"--wdir", file.directory(), "poprun-here"}, .environment = {{"PATH", ".:/usr/bin:/bin"}}});
  EXPECT_EQ(result.exit_code, 7) << result.err;
}

TEST(ExitCode, Is126ForAScriptWhoseInterpreterIsMissing) {
  const Unexecutable file("poprun-script", "#!/no/such/shell\n", 0755);
  for (const Outcome& result :
       {run({.options = {file.path()}}), run({.options = {"--wdir", file.directory(), "./poprun-script"}}),
        run({.options = {"poprun-script"}, .environment = {{"PATH", file.directory() + ":/usr/bin"}}})}) {
    EXPECT_EQ(result.exit_code, 126);
    EXPECT_THAT(result.err, HasSubstr("interpreter"));
  }
}

TEST(ExitCode, Is126ForAFileWithoutExecutePermission) {
  const Unexecutable file("poprun-not-executable", "#!/bin/sh\n", 0644);
  const Outcome result = run({.options = {file.path()}});
  EXPECT_EQ(result.exit_code, 126);
  EXPECT_THAT(result.err, HasSubstr(file.path()));
  EXPECT_THAT(result.err, HasSubstr("Permission denied"));
}

TEST(ExitCode, Is126ForADirectory) {
  const Outcome result = run({.options = {"/usr/bin/"}});
  EXPECT_EQ(result.exit_code, 126);
}

TEST(ExitCode, Is126ForATextFileWithoutInterpreterLine) {
  const Unexecutable file("poprun-text", "exit 0\n", 0755);
  const Outcome result = run({.options = {file.path()}});
  EXPECT_EQ(result.exit_code, 126);
  EXPECT_THAT(result.err, HasSubstr("#!"));
}

TEST(ExitCode, Is126ForAFileInPathThatCannotBeExecuted) {
  const Unexecutable file("poprun-in-path", "#!/bin/sh\n", 0644);
  const Outcome result =
      run({.options = {"poprun-in-path"}, .environment = {{"PATH", file.directory() + ":/usr/bin"}}});
  EXPECT_EQ(result.exit_code, 126);
}

TEST(ExitCode, Is125ForWrongOptionsAndEveryMistakeIsNamed) {
  const Outcome result = run({.options = {"--num-instances", "zero", "--no-such-option", "--num-replicas",
                                          "-4", "--tag-output=perhaps"},
                              .child = {"exit", "0"}});
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_EQ(result.out, "");
  for (const char* name : {"--num-instances", "--no-such-option", "--num-replicas", "--tag-output"}) {
    EXPECT_THAT(result.err, HasSubstr(name));
  }
  for (const std::string& line : linesOf(result.err)) EXPECT_THAT(line, ::testing::StartsWith("poprun: "));
}

TEST(ExitCode, Is125WithoutAProgram) {
  const Outcome nothing = run({});
  EXPECT_EQ(nothing.exit_code, 125);
  EXPECT_THAT(nothing.err, HasSubstr("no program"));
  EXPECT_EQ(run({.options = {"--num-instances", "2", "--"}}).exit_code, 125);
}

TEST(ExitCode, Is125WhereDescriptorsAreTooFew) {
  for (const char* limit : {"5", "6", "7", "8"}) {
    PoprunSetup setup{
        .options = {"-c", std::string("ulimit -n ") + limit + "; exec \"$0\" true", POP_BIN_DIR "/poprun"}};
    setup.program = "/bin/sh";
    const Outcome result = run(setup);
    EXPECT_EQ(result.exit_code, 125) << limit;
    EXPECT_EQ(result.err,
              "poprun: too few file descriptors (raise the limit with `ulimit -n`): Too many open files\n");
  }
}

TEST(ExitCode, Is125ForReplicasThatCannotBeDivided) {
  const Outcome result =
      run({.options = {"--num-instances", "3", "--num-replicas", "4"}, .child = {"exit", "0"}});
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_THAT(result.err, HasSubstr("--num-replicas 4"));
}

// A cgroup of 64 MiB, for one who may make one.
class MemoryLimit : public ::testing::Test {
 protected:
  void SetUp() override {
    const bool is_v1 = std::filesystem::exists("/sys/fs/cgroup/memory/memory.limit_in_bytes");
    group_ = std::string("/sys/fs/cgroup") + (is_v1 ? "/memory" : "") + "/poprun-test-" +
             std::to_string(::getpid());
    if (::mkdir(group_.c_str(), 0755) != 0) GTEST_SKIP() << "no cgroup can be made";
    std::ofstream(group_ + (is_v1 ? "/memory.limit_in_bytes" : "/memory.max")) << "64M";
    if (!is_v1) std::ofstream(group_ + "/memory.swap.max") << "0";
  }
  void TearDown() override { ::rmdir(group_.c_str()); }

  std::string within(const std::string& command) const {
    return "echo $$ > " + group_ + "/cgroup.procs; " + command;
  }

  std::string group_;
};

TEST_F(MemoryLimit, IsNamedAsTheCauseOfAKill) {
  const auto expect = [](const Outcome& result, const std::string& end) {
    EXPECT_EQ(result.exit_code, 128 + SIGKILL);
    EXPECT_THAT(result.err, HasSubstr(end + ": out of memory (cgroup /"));
    EXPECT_THAT(result.err, HasSubstr(", limit 64 MiB, peak 64 MiB)"));
  };
  // poprun with all that it starts, and an instance alone
  expect(run({.options = {"-c", within("exec \"$0\" -np 1 tail /dev/zero"), POP_BIN_DIR "/poprun"},
              .program = "/bin/sh"}),
         "was killed by SIGKILL");
  expect(run({.options = {"-np", "1", "sh", "-c", within("exec tail /dev/zero")}}), "was killed by SIGKILL");
  expect(run({.options = {"-c", within("exec \"$0\" -np 1 sh -c 'tail /dev/zero; exit $?'"),
                          POP_BIN_DIR "/poprun"},
              .program = "/bin/sh"}),
         "exited with code 137");
  const Outcome by_hand =
      run({.options = {"-c", within("exec \"$0\" -np 1 sh -c 'kill -9 $$'"), POP_BIN_DIR "/poprun"},
           .program = "/bin/sh"});
  EXPECT_EQ(by_hand.exit_code, 128 + SIGKILL);
  EXPECT_THAT(by_hand.err, ::testing::Not(HasSubstr("memory")));
}

}  // namespace
}  // namespace pop::testing
