// SPDX-License-Identifier: Apache-2.0
#include "runner/store/job_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <thread>

#include "tests/testing/temp_dir.h"

namespace pop::runner {
namespace {

using ::testing::HasSubstr;

class JobDirectoryTest : public ::testing::Test {
 protected:
  JobEntry create(const std::string& name = "") { return jobs_.create(name, "a spec").value(); }

  testing::TempDir home_;
  JobDirectories jobs_{home_ / "state/poprun/jobs"};
};

mode_t modeOf(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

TEST_F(JobDirectoryTest, NumbersJobsFromOne) {
  const auto before = std::chrono::system_clock::now() - std::chrono::seconds(1);
  const JobEntry first = create("train");
  EXPECT_EQ(first.id, 1);
  EXPECT_EQ(first.name, "train");
  EXPECT_EQ(first.path, jobs_.root() + "/1");
  EXPECT_EQ(first.state, JobState::kRunning) << "its runner is about to begin";
  EXPECT_GE(first.begun, before);
  EXPECT_EQ(first.ended, std::nullopt);
  EXPECT_EQ(readSpec(first.path).value(), "a spec");
  EXPECT_EQ(create().id, 2);
  EXPECT_EQ(create().name, "");
}

TEST_F(JobDirectoryTest, IsTheUsersAlone) {
  const mode_t before = ::umask(0);
  const JobEntry job = create("train");
  ::umask(before);
  EXPECT_EQ(modeOf(home_ / "state"), 0700u);
  EXPECT_EQ(modeOf(jobs_.root()), 0700u);
  EXPECT_EQ(modeOf(job.path), 0700u);
  EXPECT_EQ(modeOf(job.path + "/spec"), 0600u);
  EXPECT_EQ(modeOf(job.path + "/name"), 0600u);
}

TEST_F(JobDirectoryTest, IsRefusedIfOthersMayWriteThere) {
  create();
  for (const mode_t mode : {0720u, 0702u, 0777u}) {
    ASSERT_EQ(::chmod(jobs_.root().c_str(), mode), 0);
    EXPECT_EQ(jobs_.create("", "").code(), Code::kPermissionDenied);
    EXPECT_EQ(jobs_.list().code(), Code::kPermissionDenied);
    EXPECT_EQ(jobs_.find("1").code(), Code::kPermissionDenied);
  }
  ASSERT_EQ(::chmod(jobs_.root().c_str(), 0755), 0);
  EXPECT_EQ(create().id, 2);
}

TEST_F(JobDirectoryTest, OfSomebodyElseIsRefused) {
  std::string root = jobs_.root();
  if (::geteuid() == 0) {
    create();
    ASSERT_EQ(::chown(root.c_str(), 65534, 65534), 0);
  } else {
    root = "/";
  }
  const JobDirectories theirs(root);
  const Result<JobEntry> job = theirs.create("", "");
  ASSERT_EQ(job.code(), Code::kPermissionDenied);
  EXPECT_THAT(job.status().message(), HasSubstr("belongs to user"));
  EXPECT_EQ(theirs.list().code(), Code::kPermissionDenied);
}

TEST_F(JobDirectoryTest, WithoutAnyJobIsEmpty) {
  EXPECT_TRUE(jobs_.list().value().empty());
  EXPECT_EQ(jobs_.find("1").code(), Code::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(jobs_.root())) << "a look makes nothing";
}

TEST_F(JobDirectoryTest, FindsByNumberAndByName) {
  create("train");
  const JobEntry second = create("eval");
  ASSERT_TRUE(writeOutcome(second.path, "done").ok());
  create("eval");
  EXPECT_EQ(jobs_.find("1").value().name, "train");
  EXPECT_EQ(jobs_.find("train").value().id, 1);
  EXPECT_EQ(jobs_.find("eval").value().id, 3) << "the newest";
  EXPECT_EQ(jobs_.find("2").value().name, "eval");
  for (const char* nothing : {"", "0", "01", "-1", "+1", "1 ", "4", "99999999999999999999", "../1", "lock"}) {
    const Result<JobEntry> job = jobs_.find(nothing);
    ASSERT_EQ(job.code(), Code::kNotFound) << nothing;
    EXPECT_THAT(job.status().message(), HasSubstr("'" + std::string(nothing) + "'"));
    EXPECT_THAT(job.status().message(), HasSubstr("running: 1 'train', 3 'eval'"));
  }
}

TEST_F(JobDirectoryTest, KeepsTheNameOfARunningJob) {
  const JobEntry first = create("train");
  const Result<JobEntry> second = jobs_.create("train", "");
  ASSERT_EQ(second.code(), Code::kAlreadyExists);
  EXPECT_THAT(second.status().message(), HasSubstr("1 'train'"));
  EXPECT_FALSE(std::filesystem::exists(jobs_.root() + "/2"));
  ASSERT_TRUE(writeOutcome(first.path, "done").ok());
  EXPECT_EQ(create("train").id, 2);
}

TEST_F(JobDirectoryTest, ListsByNumberAndSkipsWhatIsNoJob) {
  for (int times = 0; times < 12; ++times) create();
  std::filesystem::create_directory(jobs_.root() + "/notes");
  std::filesystem::create_directory(jobs_.root() + "/13");
  const std::vector<JobEntry> jobs = jobs_.list().value();
  ASSERT_EQ(jobs.size(), 12u);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(jobs[i].id, static_cast<int>(i) + 1);
  EXPECT_EQ(create().id, 14) << "a number that was begun is not used again";
  EXPECT_FALSE(std::filesystem::exists(jobs_.root() + "/13")) << "its creator was stopped";
  EXPECT_TRUE(std::filesystem::exists(jobs_.root() + "/notes"));
}

TEST_F(JobDirectoryTest, GivesEachOfManyCreatorsItsOwn) {
  std::vector<std::vector<int>> ids(4);
  std::vector<std::thread> creators;
  for (std::vector<int>& own : ids) {
    creators.emplace_back([&] {
      const JobDirectories jobs(jobs_.root());
      for (int times = 0; times < 25; ++times) own.push_back(jobs.create("", "").value().id);
    });
  }
  for (std::thread& creator : creators) creator.join();
  std::set<int> all;
  for (const std::vector<int>& own : ids) all.insert(own.begin(), own.end());
  EXPECT_EQ(all.size(), 100u);
  EXPECT_EQ(*all.rbegin(), 100);
}

TEST_F(JobDirectoryTest, GivesANameToOneOfManyCreators) {
  std::vector<Code> codes(8, Code::kUnknown);
  std::vector<std::thread> creators;
  for (Code& code : codes)
    creators.emplace_back([&] { code = JobDirectories(jobs_.root()).create("train", "").code(); });
  for (std::thread& creator : creators) creator.join();
  EXPECT_EQ(std::count(codes.begin(), codes.end(), Code::kOk), 1);
  EXPECT_EQ(std::count(codes.begin(), codes.end(), Code::kAlreadyExists), 7);
}

TEST(JobDirectoryOfUser, IsWhereTheEnvironmentSays) {
  ::setenv("XDG_STATE_HOME", "/a", 1);
  ::setenv("HOME", "/b", 1);
  EXPECT_EQ(JobDirectories::ofUser().value().root(), "/a/poprun/jobs");
  ::setenv("XDG_STATE_HOME", "relative", 1);
  EXPECT_EQ(JobDirectories::ofUser().value().root(), "/b/.local/state/poprun/jobs");
  ::unsetenv("XDG_STATE_HOME");
  EXPECT_EQ(JobDirectories::ofUser().value().root(), "/b/.local/state/poprun/jobs");
  ::setenv("HOME", "", 1);
  EXPECT_EQ(JobDirectories::ofUser().code(), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace pop::runner
