// SPDX-License-Identifier: Apache-2.0
// The state of a job's runner, alive or not, by its lock.
#include "runner/store/job_state.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "tests/testing/temp_dir.h"

namespace pop::runner {
namespace {

class JobStateTest : public ::testing::Test {
 protected:
  JobState state() const { return jobs_.find("1").value().state; }

  testing::TempDir home_;
  JobDirectories jobs_{home_ / "jobs"};
  JobEntry job_ = jobs_.create("", "a spec").value();
};

void setAge(const std::string& path, std::chrono::seconds age) {
  const timespec then{::time(nullptr) - age.count(), 0};
  const timespec times[] = {then, then};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

TEST_F(JobStateTest, FollowsTheLockAndTheOutcome) {
  EXPECT_EQ(state(), JobState::kRunning);
  Result<sys::Fd> lock = lockJob(job_.path);
  ASSERT_TRUE(lock.ok());
  EXPECT_EQ(state(), JobState::kRunning);
  lock.value().reset();
  EXPECT_EQ(state(), JobState::kLost) << "its runner is gone, and has said nothing";

  EXPECT_EQ(readOutcome(job_.path).code(), Code::kNotFound);
  ASSERT_TRUE(writeOutcome(job_.path, "done").ok());
  EXPECT_EQ(readOutcome(job_.path).value(), "done");
  const JobEntry ended = jobs_.find("1").value();
  EXPECT_EQ(ended.state, JobState::kEnded);
  EXPECT_GE(ended.ended.value(), ended.begun);
}

TEST_F(JobStateTest, IsLostIfNoRunnerBeginsInTime) {
  setAge(job_.path + "/spec", std::chrono::seconds(11));
  EXPECT_EQ(state(), JobState::kLost);
}

TEST_F(JobStateTest, ALostJobEndedWithItsLastEvent) {
  lockJob(job_.path).value().reset();
  EXPECT_EQ(jobs_.find("1").value().ended, std::nullopt);
  std::ofstream(job_.path + "/journal") << "an event";
  setAge(job_.path + "/journal", std::chrono::seconds(100));
  const JobEntry lost = jobs_.find("1").value();
  EXPECT_EQ(lost.state, JobState::kLost);
  const auto ago = std::chrono::system_clock::now() - lost.ended.value();
  EXPECT_GE(ago, std::chrono::seconds(99));
  EXPECT_LE(ago, std::chrono::seconds(200));
}

TEST_F(JobStateTest, OneRunnerHoldsTheLock) {
  Result<sys::Fd> lock = lockJob(job_.path);
  ASSERT_TRUE(lock.ok());
  EXPECT_EQ(lockJob(job_.path).code(), Code::kAlreadyExists);
  lock.value().reset();
  EXPECT_TRUE(lockJob(job_.path).ok());
}

TEST_F(JobStateTest, LooksNeitherTakeTheLockNorLoseIt) {
  std::atomic<bool> is_done = false;
  std::thread looker([&] {
    while (!is_done) EXPECT_EQ(jobs_.list().value().size(), 1u);
  });
  for (int times = 0; times < 3000; ++times) {
    const Result<sys::Fd> lock = lockJob(job_.path);
    ASSERT_TRUE(lock.ok()) << "after " << times << ": " << lock.status().message();
    ASSERT_EQ(state(), JobState::kRunning) << "a look in the same process";
    ASSERT_EQ(lockJob(job_.path).code(), Code::kAlreadyExists);
  }
  is_done = true;
  looker.join();
}

TEST_F(JobStateTest, IsLostWhenTheRunnerIsKilled) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t runner = ::fork();
  if (runner == 0) {
    const Result<sys::Fd> lock = lockJob(job_.path);
    if (!lock.ok() || ::write(ready[1], "r", 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(state(), JobState::kRunning);
  EXPECT_EQ(lockJob(job_.path).code(), Code::kAlreadyExists);
  ASSERT_EQ(::kill(runner, SIGKILL), 0);
  ASSERT_EQ(::waitpid(runner, nullptr, 0), runner);
  EXPECT_EQ(state(), JobState::kLost);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(JobStateTest, IsEndedAsSoonAsTheLockIsGoneAfterAnOutcome) {
  // Runs of a runner that ends in the usual order, beside looks: none may find the job lost.
  for (int times = 0; times < 50; ++times) {
    const JobEntry job = jobs_.create("", "").value();
    Result<sys::Fd> lock = lockJob(job.path);
    std::thread runner([&] {
      std::ofstream(job.path + "/outcome") << "done";
      lock.value().reset();
    });
    JobState seen = JobState::kRunning;
    while (seen == JobState::kRunning) seen = lookAtJob(jobs_.root(), job.id)->state;
    runner.join();
    ASSERT_EQ(seen, JobState::kEnded) << times;
  }
}

TEST_F(JobStateTest, AnOutcomeReplacesWhatAKilledWriterLeft) {
  std::ofstream(job_.path + "/outcome.new") << "half of somethi";
  EXPECT_EQ(readOutcome(job_.path).code(), Code::kNotFound);
  ASSERT_TRUE(writeOutcome(job_.path, "done").ok());
  EXPECT_EQ(readOutcome(job_.path).value(), "done");
}

TEST_F(JobStateTest, ALinkIsNeitherALockNorAnOutcome) {
  std::ofstream(home_ / "mine") << "mine";
  for (const char* name : {"/lock", "/outcome"})
    ASSERT_EQ(::symlink((home_ / "mine").c_str(), (job_.path + name).c_str()), 0);
  EXPECT_EQ(lockJob(job_.path).code(), Code::kFailedPrecondition);
  EXPECT_EQ(readOutcome(job_.path).code(), Code::kFailedPrecondition);
  EXPECT_EQ(state(), JobState::kRunning);
}

}  // namespace
}  // namespace pop::runner
