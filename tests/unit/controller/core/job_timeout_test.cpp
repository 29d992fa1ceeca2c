// SPDX-License-Identifier: Apache-2.0
// A job's time limit: what it ends, what it does not, and where the instances were.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/unit/controller/core/job_fixture.h"

namespace pop {
namespace {

using std::chrono::milliseconds;

model::JobSpec limited(milliseconds timeout) {
  model::JobSpec spec = JobFixture::specFor(2, 2);
  spec.timeout = timeout;
  return spec;
}

void closeAll(JobFixture& job) {
  for (const int instance : {0, 1}) job.endAndClose(instance, {.signal = SIGTERM});
}

TEST(JobTimeout, StopsEveryHostAndIs124) {
  JobFixture job(limited(milliseconds(1000)));
  job.startAll();
  job.loop().advance(milliseconds(999));
  EXPECT_EQ(job.agent(0).stops, 0);
  job.loop().advance(milliseconds(1));
  for (const int host : {0, 1}) EXPECT_EQ(job.agent(host).stops, 1);
  closeAll(job);
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, 124);
  EXPECT_TRUE(job.outcome().timed_out);
  EXPECT_FALSE(job.outcome().failure) << "what the stop does to instances is not a failure";
  EXPECT_EQ(job.outcome().instances_stopped, 2);
}

TEST(JobTimeout, StopsOnlyThoseThatHaveNotEnded) {
  JobFixture job(limited(milliseconds(1000)));
  job.startAll();
  job.ended(0, kSuccess);
  job.loop().advance(milliseconds(1000));
  job.endAndClose(1, {.signal = SIGTERM});
  job.closed(0);
  EXPECT_EQ(job.outcome().instances_stopped, 1);
}

TEST(JobTimeout, IsOverWithTheJob) {
  JobFixture job(limited(milliseconds(1000)));
  job.startAll();
  for (const int instance : {0, 1}) job.endAndClose(instance, kSuccess);
  job.loop().advance(milliseconds(5000));
  EXPECT_EQ(job.reports(), 1);
  EXPECT_EQ(job.outcome().exit_code, 0);
}

TEST(JobTimeout, ComesTooLateForAFailure) {
  JobFixture job(limited(milliseconds(1000)));
  job.startAll();
  job.ended(0, {.code = 3});
  job.loop().advance(milliseconds(1000));
  job.ended(1, {.signal = SIGTERM});
  for (const int instance : {0, 1}) job.closed(instance);
  EXPECT_EQ(job.outcome().exit_code, 3);
}

TEST(JobTimeout, GivesWayToCtrlC) {
  JobFixture job(limited(milliseconds(1000)));
  job.startAll();
  job.loop().advance(milliseconds(1000));
  job.job().stop(SIGINT);
  closeAll(job);
  EXPECT_EQ(job.outcome().exit_code, 130);
}

TEST(JobTimeout, HoldsForAllAttemptsTogether) {
  model::JobSpec spec = limited(milliseconds(1000));
  spec.max_restarts = 100;
  JobFixture job(spec);
  job.startAll();
  job.ended(0, {.code = 3});
  job.loop().advance(milliseconds(1000));
  job.ended(1, {.signal = SIGTERM});
  for (const int instance : {0, 1}) job.closed(instance);
  ASSERT_TRUE(job.done()) << "no attempt begins when the time is over";
  EXPECT_EQ(job.outcome().exit_code, 3);
}

TEST(JobTimeout, EndsTheWaitForARestart) {
  model::JobSpec spec = limited(milliseconds(1000));
  spec.max_restarts = 1;
  spec.restart_delay = milliseconds(5000);
  JobFixture job(spec);
  job.startAll();
  job.endAndClose(0, {.code = 3});
  job.endAndClose(1, {.signal = SIGTERM});
  job.loop().advance(milliseconds(1000));
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, 124);
  EXPECT_EQ(job.failedAttempts().at(0).instances_stopped, 1);
  EXPECT_EQ(job.outcome().instances_stopped, 0) << "those of the attempt before do not count";
}

TEST(JobTimeout, EndsAJobWhoseHostsDoNotAnswer) {
  JobFixture job(limited(milliseconds(1000)));
  job.agent(1).holdDescribe();
  job.job().start();
  job.loop().advance(milliseconds(1000));
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, 124);
  EXPECT_EQ(job.outcome().instances_stopped, 0);
  EXPECT_EQ(job.outcome().hosts_unanswered, 1) << "the other one has";
}

TEST(JobTimeout, AsksFirstWhereTheInstancesAre) {
  model::JobSpec spec = limited(milliseconds(1000));
  spec.stack_traces = true;
  JobFixture job(spec);
  job.startAll();
  job.loop().advance(milliseconds(1000));
  EXPECT_EQ(job.agent(0).stops, 0) << "a stopped instance has no stack to show";
  job.agent(1).held_traces({{1, 701, "#0 in futex"}});  // the agents answer in any order
  job.agent(0).held_traces({{0, 700, "#0 in read"}});
  for (const int host : {0, 1}) EXPECT_EQ(job.agent(host).stops, 1);
  closeAll(job);
  ASSERT_EQ(job.outcome().stack_traces.size(), 2U);
  EXPECT_EQ(job.outcome().stack_traces[0].host, "node1");
  EXPECT_EQ(job.outcome().stack_traces[1].text, "#0 in futex");
  EXPECT_EQ(job.outcome().stack_traces[1].host, "node2");
}

}  // namespace
}  // namespace pop
