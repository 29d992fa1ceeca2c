// SPDX-License-Identifier: Apache-2.0
#include "poprun/ui/output_files.h"
#include "tests/testing/temp_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
