// SPDX-License-Identifier: Apache-2.0
#include "runner/store/job_retention.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/testing/temp_dir.h"

namespace pop::runner {
namespace {

using std::chrono::days;
using std::chrono::system_clock;

class JobRetentionTest : public ::testing::Test {
 protected:
  JobEntry job(int id, JobState state, days age) {
    JobEntry entry{.id = id, .name = {}, .state = state, .path = home_ / std::to_string(id)};
    entry.begun = now_ - age - days(1);
    if (state == JobState::kEnded) entry.ended = now_ - age;
    std::filesystem::create_directories(entry.path + "/out");
    return entry;
  }
  bool isThere(int id) const { return std::filesystem::exists(home_ / std::to_string(id)); }

  testing::TempDir home_;
  system_clock::time_point now_ = system_clock::now();
};

TEST_F(JobRetentionTest, JobsGoAfterThirtyDaysUnlessTheyRun) {
  const JobEntry jobs[] = {job(1, JobState::kEnded, days(31)), job(2, JobState::kLost, days(31)),
                           job(3, JobState::kRunning, days(400)), job(4, JobState::kEnded, days(29)),
                           job(5, JobState::kLost, days(28))};
  removeOldJobs(jobs, now_);
  EXPECT_FALSE(isThere(1));
  EXPECT_FALSE(isThere(2));
  EXPECT_TRUE(isThere(3));
  EXPECT_TRUE(isThere(4));
  EXPECT_TRUE(isThere(5));
}

TEST_F(JobRetentionTest, TheOldestOfMoreThanAThousandGo) {
  std::vector<JobEntry> jobs = {job(1, JobState::kRunning, days(20))};
  for (int id = 2; id <= 1004; ++id) jobs.push_back(job(id, JobState::kEnded, days(id == 500 ? 9 : 1)));
  jobs[2].ended = now_ - days(2);
  jobs[3].ended = now_ - days(3);
  removeOldJobs(jobs, now_);
  for (int id = 1; id <= 1004; ++id) EXPECT_EQ(isThere(id), id != 3 && id != 4 && id != 500) << id;
}

TEST_F(JobRetentionTest, CreatingAJobRemovesOldOnes) {
  const JobDirectories jobs(home_ / "jobs");
  const JobEntry old = jobs.create("", "").value();
  ASSERT_TRUE(writeOutcome(old.path, "done").ok());
  const timespec then[] = {{0, UTIME_OMIT}, {::time(nullptr) - 31 * 86400, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (old.path + "/outcome").c_str(), then, 0), 0);
  EXPECT_EQ(jobs.list().value().size(), 1u) << "looking removes nothing";
  EXPECT_EQ(jobs.create("", "").value().id, 2);
  EXPECT_FALSE(std::filesystem::exists(old.path));
}

}  // namespace
}  // namespace pop::runner
