// SPDX-License-Identifier: Apache-2.0
// A job that fails and is started again, as a whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/unit/controller/core/job_fixture.h"

namespace pop {
namespace {

using std::chrono::milliseconds;

model::JobSpec restartable(int max_restarts, milliseconds delay = milliseconds(0)) {
  model::JobSpec spec = JobFixture::specFor(2, 2);
  spec.max_restarts = max_restarts;
  spec.restart_delay = delay;
  return spec;
}

// Instance 1 exits with `code`, instance 0 is stopped for it.
void failOnce(JobFixture& job, int code) {
  job.endAndClose(1, {.code = code});
  job.endAndClose(0, {.signal = SIGTERM});
}

void startAllInstances(JobFixture& job) {
  for (const int instance : {0, 1}) job.started(instance);
}

TEST(JobRestart, RunsTheWholeJobAgainAndSucceeds) {
  JobFixture job(restartable(2));
  job.startAll();
  failOnce(job, 3);
  EXPECT_FALSE(job.done());
  ASSERT_EQ(job.failedAttempts().size(), 1U);
  EXPECT_EQ(job.failedAttempts()[0].failure->instance, 1);
  job.loop().advance(milliseconds(0));
  for (const int host : {0, 1}) EXPECT_EQ(job.agent(host).runs, 2);
  startAllInstances(job);
  for (const int instance : {0, 1}) job.endAndClose(instance, kSuccess);
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, 0);
  EXPECT_FALSE(job.outcome().failure) << "what went wrong before is made good";
  EXPECT_EQ(job.outcome().restarts, 1);
}

TEST(JobRestart, IsNotDecidedByWhatTheAttemptBeforeHasLeftBehind) {
  JobFixture job(restartable(1, milliseconds(100)));
  job.startAll();
  failOnce(job, 3);
  job.agent(0).events->onAborted(0, 9, "a grandchild gives up");
  EXPECT_FALSE(job.done());
  job.loop().advance(milliseconds(100));
  startAllInstances(job);
  for (const int instance : {0, 1}) job.endAndClose(instance, kSuccess);
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, 0);
}

TEST(JobRestart, TellsInstancesWhichAttemptTheyAre) {
  JobFixture job(restartable(1));
  job.startAll();
  EXPECT_EQ(job.agent(0).slice.instances[0].env.restart_count, 0);
  EXPECT_EQ(job.agent(0).slice.job_id, "4f2a");
  failOnce(job, 3);
  job.loop().advance(milliseconds(0));
  EXPECT_EQ(job.agent(0).slice.instances[0].env.restart_count, 1);
  EXPECT_EQ(job.agent(0).slice.instances[0].env.job_id, "4f2a-1") << "nobody of the first attempt may join";
  EXPECT_EQ(job.agent(0).slice.job_id, "4f2a-1");
}

TEST(JobRestart, GivesUpAfterTheLastOneWithTheLastFailure) {
  JobFixture job(restartable(2));
  job.startAll();
  for (const int code : {3, 4, 5}) {
    failOnce(job, code);
    job.loop().advance(milliseconds(0));
    if (!job.done()) startAllInstances(job);
  }
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, 5);
  EXPECT_EQ(job.outcome().restarts, 2);
  EXPECT_EQ(job.agent(0).runs, 3);
}

TEST(JobRestart, WaitsForItsDelay) {
  JobFixture job(restartable(1, milliseconds(500)));
  job.startAll();
  failOnce(job, 3);
  job.loop().advance(milliseconds(499));
  EXPECT_EQ(job.agent(0).runs, 1);
  job.loop().advance(milliseconds(1));
  EXPECT_EQ(job.agent(0).runs, 2);
}

TEST(JobRestart, IsNotForWhatTheUserEnds) {
  JobFixture job(restartable(5));
  job.startAll();
  job.job().stop(SIGINT);
  for (const int instance : {0, 1}) job.endAndClose(instance, {.signal = SIGTERM});
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, 130);
}

TEST(JobRestart, IsNotForAJobWhoseOutputCannotBeWritten) {
  JobFixture job(restartable(5));
  job.startAll();
  job.endAndClose(1, {.code = 3});
  job.job().stop(SIGPIPE);  // the others' output before they were stopped
  job.endAndClose(0, {.signal = SIGTERM});
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, 3);
  EXPECT_EQ(job.outcome().why_not_again, "its output cannot be written");
}

TEST(JobRestart, TheUserEndsTheWaitForIt) {
  JobFixture job(restartable(1, milliseconds(500)));
  job.startAll();
  failOnce(job, 3);
  job.job().stop(SIGINT);
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, 130);
  job.loop().advance(milliseconds(1000));
  EXPECT_EQ(job.agent(0).runs, 1);
  EXPECT_EQ(job.reports(), 1);
}

void findNoProgram(JobFixture& job) {
  job.job().start();
  for (const int instance : {0, 1}) {
    job.cannotStart(instance, 127, "no such program");
    job.closed(instance);
  }
}

TEST(JobRestart, IsNotForAProgramThatCannotBeStarted) {
  JobFixture job(restartable(5));
  findNoProgram(job);
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, 127);
  EXPECT_EQ(job.outcome().why_not_again, "a restart would fail the same way");
}

TEST(JobRestart, IsNotMissedWhereNoneWasWanted) {
  JobFixture job(restartable(0));
  findNoProgram(job);
  EXPECT_EQ(job.outcome().why_not_again, "");
}

TEST(JobRestart, ForgetsWhatTheFailedAttemptHadPut) {
  JobFixture job(restartable(1));
  job.startAll();
  job.agent(0).events->onFenceReached(FenceId::kInstances, {{"old", "1"}});
  failOnce(job, 3);
  job.agent(0).holdDescribe();
  job.loop().advance(milliseconds(0));
  job.agent(1).events->onFenceReached(FenceId::kInstances,
                                      {{"of a process that the attempt left behind", "1"}});
  job.agent(0).answerDescribe();
  startAllInstances(job);
  job.agent(0).events->onFenceReached(FenceId::kInstances, {{"a", "1"}});
  EXPECT_TRUE(job.agent(0).released.empty()) << "host 1 has not arrived yet";
  job.agent(1).events->onFenceReached(FenceId::kInstances, {{"b", "2"}});
  ASSERT_EQ(job.agent(0).released.size(), 1U);
  EXPECT_EQ(job.agent(0).released[0], (PutValues{{"a", "1"}, {"b", "2"}}));
}

}  // namespace
}  // namespace pop
