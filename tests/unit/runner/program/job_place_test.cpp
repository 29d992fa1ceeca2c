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

TEST_F(JobPlace, HoldsCredentialsThatOnlyTheirUserReads) {
  ::popdist::v1::JobCredentials credentials;
  credentials.set_authority_pem("authority");
  credentials.set_certificate_pem("certificate");
  credentials.set_key_pem("key");
  const Result<std::string> tls = writeCredentials(place_, "alice", credentials);
  ASSERT_TRUE(tls.ok()) << tls.status().message();
  EXPECT_EQ(tls.value(), place_ + "/tls");
  EXPECT_EQ(modeOf(tls.value()), 0700u);
  EXPECT_EQ(sys::readFile(tls.value() + "/ca.pem").value(), "authority");
  EXPECT_EQ(sys::readFile(tls.value() + "/user-alice.pem").value(), "certificate");
  EXPECT_EQ(sys::readFile(tls.value() + "/user-alice-key.pem").value(), "key");
  EXPECT_EQ(modeOf(tls.value() + "/user-alice-key.pem"), 0600u);
  EXPECT_FALSE(writeCredentials(place_, "alice", credentials).ok()) << "something was there";
  removeCredentials(tls.value());
  EXPECT_TRUE(std::filesystem::is_empty(place_));
}

TEST_F(JobPlace, TakesNoUserForAPath) {
  for (const char* user : {"", "../alice", "a/b"})
    EXPECT_EQ(writeCredentials(place_, user, {}).code(), Code::kInvalidArgument) << user;
  EXPECT_TRUE(std::filesystem::is_empty(place_));
}

}  // namespace
}  // namespace pop::runner
