// SPDX-License-Identifier: Apache-2.0
#include "poprun/ui/output_files.h"
#include "common/sys/unix_socket.h"
#include "tests/testing/temp_dir.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace pop {
namespace {

class OutputFilesTest : public ::testing::Test {
 protected:
  testing::TempDir temp_dir_;
  const std::string& directory_ = temp_dir_.path();
};

TEST_F(OutputFilesTest, AreLaidOutAsMpirunDoes) {
  Result<OutputFiles> files = OutputFiles::create(directory_ + "/logs/run", 10);
  ASSERT_TRUE(files.ok());
  EXPECT_FALSE(files->write(3, Stream::kStderr, "oops").has_value());
  EXPECT_EQ(sys::readFile(directory_ + "/logs/run/1/rank.03/stderr").value(), "oops");
  EXPECT_EQ(sys::readFile(directory_ + "/logs/run/1/rank.03/stdout").value(), "");
  ASSERT_TRUE(OutputFiles::create(directory_, 9).ok());
  EXPECT_TRUE(std::filesystem::exists(directory_ + "/1/rank.3/stdout"));
}

TEST_F(OutputFilesTest, BeginAnew) {
  for (const char* text : {"the first run", "second"}) {
    Result<OutputFiles> files = OutputFiles::create(directory_, 1);
    ASSERT_TRUE(files.ok());
    files->write(0, Stream::kStdout, text);
  }
  EXPECT_EQ(sys::readFile(directory_ + "/1/rank.0/stdout").value(), "second");
}

TEST_F(OutputFilesTest, SayWhichDirectoryCannotBeMade) {
  std::ofstream(directory_ + "/file") << "in the way";
  const Result<OutputFiles> files = OutputFiles::create(directory_ + "/file", 2);
  ASSERT_FALSE(files.ok());
  EXPECT_THAT(files.status().message(), ::testing::HasSubstr(directory_ + "/file/1/rank.0"));
  EXPECT_THAT(files.status().message(), ::testing::HasSubstr("--output-filename"));
}

// Poprun would wait for a reader, before the job starts.
TEST_F(OutputFilesTest, RefuseWhatIsNoFile) {
  std::filesystem::create_directories(directory_ + "/1/rank.1");
  const std::string path = directory_ + "/1/rank.1/stderr";
  const auto expect = [&](const std::string& kind) {
    EXPECT_EQ(OutputFiles::create(directory_, 2).status().message(),
              "--output-filename: " + path + " is " + kind + ": remove it, or name another directory");
    std::filesystem::remove_all(path);
  };
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  expect("a FIFO");
  ASSERT_EQ(::mkfifo((directory_ + "/fifo").c_str(), 0600), 0);
  const sys::Fd reader(::open((directory_ + "/fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  std::filesystem::create_symlink(directory_ + "/fifo", path);
  expect("a FIFO");
  const sys::Fd socket = sys::listenPath(path).value();
  expect("a socket");
  std::filesystem::create_directory(path);
  expect("a directory");
  std::filesystem::create_symlink("/dev/tty", path);
  expect("a device");
  std::filesystem::create_symlink("/dev/null", path);
  EXPECT_TRUE(OutputFiles::create(directory_, 2).ok());
}

TEST_F(OutputFilesTest, SayOnceThatTheDiskIsFull) {
  std::filesystem::create_directories(directory_ + "/1/rank.0");
  std::filesystem::create_symlink("/dev/full", directory_ + "/1/rank.0/stdout");
  Result<OutputFiles> files = OutputFiles::create(directory_, 1);
  ASSERT_TRUE(files.ok());
  const auto failure = files->write(0, Stream::kStdout, "text");
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->error, ENOSPC);
  EXPECT_EQ(failure->where, directory_ + "/1/rank.0/stdout");
  EXPECT_FALSE(files->write(0, Stream::kStdout, "more").has_value());
}

}  // namespace
}  // namespace pop
