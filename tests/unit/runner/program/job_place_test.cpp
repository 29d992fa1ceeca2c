// SPDX-License-Identifier: Apache-2.0
#include "runner/program/job_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "common/sys/fd.h"
#include "tests/testing/temp_dir.h"

namespace pop::runner {
namespace {

using ::testing::HasSubstr;

class JobPlace : public ::testing::Test {
 protected:
  JobPlace() { std::filesystem::create_directory(place_); }

  static mode_t modeOf(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777;
  }

  testing::TempDir directory_;
  const std::string place_ = directory_.path() + "/7.1";
};

TEST_F(JobPlace, IsADirectoryThatNobodyElseMayWrite) {
  EXPECT_TRUE(checkPlace(place_).ok());
  EXPECT_EQ(checkPlace(place_ + "/none").code(), Code::kNotFound);
  std::filesystem::permissions(place_, std::filesystem::perms::all);
  EXPECT_EQ(checkPlace(place_).code(), Code::kFailedPrecondition);
  std::filesystem::create_symlink(directory_.path(), directory_.path() + "/link");
  EXPECT_THAT(checkPlace(directory_.path() + "/link").message(), HasSubstr("not a directory"));
}

TEST_F(JobPlace, IsEmptiedWithoutFollowingLinks) {
  const std::string kept = directory_.path() + "/kept";
  std::ofstream(kept) << "text";
  std::filesystem::create_directories(place_ + "/out/deep");
  std::ofstream(place_ + "/spec") << "text";
  std::filesystem::create_symlink(kept, place_ + "/link");
  std::filesystem::create_directory_symlink(directory_.path(), place_ + "/out/up");
  EXPECT_TRUE(hasJob(place_));
  EXPECT_TRUE(emptyPlace(place_).ok());
  EXPECT_TRUE(std::filesystem::is_empty(place_));
  EXPECT_TRUE(std::filesystem::exists(kept));
  EXPECT_FALSE(hasJob(place_));
  EXPECT_TRUE(emptyPlace(place_ + "/none").ok());
}

}  // namespace
}  // namespace pop::runner
