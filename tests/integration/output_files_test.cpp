// SPDX-License-Identifier: Apache-2.0
// --output-filename: the screen shows what it would show anyway, and each instance has its files.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>

#include "tests/testing/poprun_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/test_child.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

class OutputFilename : public ::testing::Test {
 protected:
  std::string content(const std::string& file) { return sys::readFile(directory_ + "/1/" + file).value(); }

  TempDir temp_dir_;
  const std::string& directory_ = temp_dir_.path();
};

TEST_F(OutputFilename, HasEveryByteOfEveryInstance) {
  constexpr std::size_t kBytes = 1 << 20;
  const Outcome result = run({.options = {"--num-instances", "3", "--output-filename", directory_},
                              .child = {"binary", std::to_string(kBytes)}});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* rank : {"rank.0", "rank.1", "rank.2"}) {
    EXPECT_TRUE(content(rank + std::string("/stdout")) == binaryText(kBytes));
    EXPECT_EQ(content(rank + std::string("/stderr")), "");
  }
}

TEST_F(OutputFilename, HasWhatTheScreenDoesNotShow) {
  const Outcome result =
      run({.options = {"--num-instances=2", "--only-output-from-instance=1", "--output-filename", directory_,
                       "sh", "-c", "echo out; printf err >&2"}});
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(content("rank.0/stdout"), "out\n");
  EXPECT_EQ(content("rank.0/stderr"), "err");
}

TEST_F(OutputFilename, HasAllAttemptsOfAJobThatIsStartedAgain) {
  const Outcome result = run({.options = {"--max-restarts", "1", "--output-filename", directory_, "sh", "-c",
                                          "echo attempt $POPDIST_RESTART_COUNT; exit 3"}});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(content("rank.0/stdout"), "attempt 0\nattempt 1\n");
}

TEST_F(OutputFilename, ThatCannotBeMadeKeepsTheJobFromStarting) {
  const Outcome result = run({.options = {"--output-filename", "/proc/none", "echo", "started"}});
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("poprun: --output-filename: making the directory /proc/none/1/rank.0: "));
}

TEST_F(OutputFilename, OnAFullDiskStopsTheJob) {
  std::filesystem::create_directories(directory_ + "/1/rank.1");
  std::filesystem::create_symlink("/dev/full", directory_ + "/1/rank.1/stdout");
  const Outcome result =
      run({.options = {"--num-instances", "2", "--output-filename", directory_}, .child = {"flood"}});
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_THAT(result.err, HasSubstr("poprun: the job was stopped because its output cannot be written to " +
                                    directory_ + "/1/rank.1/stdout: No space left on device\n"));
}

// An instance writes its last words while it is being stopped.
TEST_F(OutputFilename, OnADiskThatIsFullOnceTheJobHasFailedLeavesTheExitCodeToTheFailure) {
  std::filesystem::create_directories(directory_ + "/1/rank.1");
  std::filesystem::create_symlink("/dev/full", directory_ + "/1/rank.1/stdout");
  const std::string ready = directory_ + "/ready";
  ASSERT_EQ(::mkfifo(ready.c_str(), 0600), 0);
  const std::string script = "[ $RANK = 0 ] && { read line <" + ready +
                             "; exit 3; }; trap 'echo late; exit 0' TERM; " + "echo >" + ready +
                             "; sleep 1000 & wait";
  const Outcome result =
      run({.options = {"--num-instances", "2", "--output-filename", directory_, "sh", "-c", script}});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("poprun: warning: the end of the job's output cannot be written to " +
                                    directory_ + "/1/rank.1/stdout: No space left on device\n"));
  EXPECT_THAT(result.err, HasSubstr("exited with code 3"));
}

TEST_F(OutputFilename, OnADiskThatIsFullOnceTheUserHasEndedTheJobDoesNotHideThat) {
  std::filesystem::create_directories(directory_ + "/1/rank.0");
  std::filesystem::create_symlink("/dev/full", directory_ + "/1/rank.0/stdout");
  PoprunProcess poprun({.options = {"--output-filename", directory_, "sh", "-c",
                                    "trap 'echo late; exit 0' TERM; echo ready >&2; sleep 1000 & wait"}});
  ASSERT_TRUE(poprun.waitFor([&] { return poprun.err().find("ready") != std::string::npos; }));
  poprun.signal(SIGINT);
  EXPECT_EQ(poprun.wait(), 130);
  EXPECT_THAT(poprun.err(), HasSubstr("the end of the job's output cannot be written to "));
}

TEST_F(OutputFilename, BeyondTheLimitOfAFilesSizeStopsTheJob) {
  const Outcome result = run({.options = {"--num-instances", "2", "--output-filename", directory_},
                              .child = {"flood"},
                              .file_bytes_limit = 100000});
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_THAT(result.err, HasSubstr("/stdout: File too large\n"));
}

TEST(StdoutOnAFullDisk, StopsTheJob) {
  const sys::Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  const Outcome result =
      run({.options = {"--num-instances", "2"}, .child = {"flood"}, .descriptors = {{1, full.get()}}});
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_THAT(result.err,
              HasSubstr("poprun: the job was stopped because its output cannot be written to stdout: No "
                        "space left on device\n"));
}

}  // namespace
}  // namespace pop::testing
