// SPDX-License-Identifier: Apache-2.0
#include "runner/store/job_retention.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

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
  for (const JobEntry& each : jobs) EXPECT_TRUE(isThere(each.id)) << "a clock may be ahead for a while";
  removeOldJobs(jobs, now_ + std::chrono::hours(25));
  EXPECT_FALSE(isThere(1));
  EXPECT_FALSE(isThere(2));
  EXPECT_TRUE(isThere(3));
  EXPECT_TRUE(isThere(4));
  EXPECT_TRUE(isThere(5));
}

// By 40 days, for a minute, and again a week later.
TEST_F(JobRetentionTest, AClockThatIsAheadForAWhileRemovesNothing) {
  const JobEntry jobs[] = {job(1, JobState::kEnded, days(1)), job(2, JobState::kLost, days(2))};
  for (const days later : {days(0), days(7)}) {
    removeOldJobs(jobs, now_ + later + days(40));
    removeOldJobs(jobs, now_ + later + days(40) + std::chrono::minutes(1));
    removeOldJobs(jobs, now_ + later);
  }
  EXPECT_TRUE(isThere(1));
  EXPECT_TRUE(isThere(2));
  EXPECT_FALSE(std::filesystem::exists(jobs[0].path + "/old"));
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
  ASSERT_TRUE(std::filesystem::exists(old.path + "/old"));
  std::ofstream(old.path + "/old") << ::time(nullptr) - 86401;
  EXPECT_EQ(jobs.create("", "").value().id, 3);
  EXPECT_FALSE(std::filesystem::exists(old.path));
}

}  // namespace
}  // namespace pop::runner
