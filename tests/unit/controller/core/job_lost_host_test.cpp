// SPDX-License-Identifier: Apache-2.0
// Hosts that are lost, or never reached: what it does to the job, and how it goes on without them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/unit/controller/core/job_fixture.h"

namespace pop {
namespace {

using std::chrono::milliseconds;
using ::testing::Contains;
using ::testing::Not;

// 3 hosts, 6 instances: with 2 hosts it goes on, with 1 as well, if it may.
model::JobSpec elastic(int max_restarts, std::optional<int> min_hosts) {
  model::JobSpec spec = JobFixture::specFor(3, 6);
  spec.max_restarts = max_restarts;
  spec.min_hosts = min_hosts;
  return spec;
}

void endAll(JobFixture& job, std::initializer_list<int> instances, const contract::ExitStatus& status) {
  for (const int instance : instances) job.endAndClose(instance, status);
}

TEST(JobLostHost, IsAFailureThatNamesItAndStopsTheOthers) {
  JobFixture job(3, 6);
  job.startAll();
  job.lose(1, "it has been silent for 5 s");
  for (const int host : {0, 2}) {
    EXPECT_EQ(job.agent(host).stops, 1);
    ASSERT_FALSE(job.agent(host).announced.empty());
    EXPECT_EQ(job.agent(host).announced[0].text, "instance 2 (pid 702 on node2) was lost with its host");
  }
  EXPECT_FALSE(job.done());
  endAll(job, {0, 1, 4, 5}, {.signal = SIGTERM});
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, contract::kExitLauncherFailed);
  EXPECT_EQ(job.outcome().failure->reason, "host node2 was lost: it has been silent for 5 s");
  EXPECT_EQ(job.outcome().failure->instances_lost, 2);
  EXPECT_EQ(job.outcome().instances_stopped, 4);
}

TEST(JobLostHost, EndsTheJobAtOnceWhenNobodyElseIsLeft) {
  JobFixture job(1, 2);
  job.startAll();
  job.lose(0, "connection reset");
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.reports(), 1);
  EXPECT_EQ(job.outcome().exit_code, contract::kExitLauncherFailed);
}

TEST(JobLostHost, LostTogetherAreNamedTogether) {
  JobFixture job(3, 3);
  job.startAll();
  job.lose(1, "it has been silent for 5 s");
  job.loop().advance(milliseconds(300));
  job.lose(0, "it has been silent for 5 s");
  job.endAndClose(2, {.signal = SIGTERM});
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().failure->reason, "hosts node1 and node2 were lost: it has been silent for 5 s");
  EXPECT_EQ(job.outcome().instances_stopped, 1);
}

TEST(JobLostHost, AfterAFailureDoesNotReplaceItAndIsWaitedForByNobody) {
  JobFixture job(2, 2);
  job.startAll();
  job.endAndClose(0, {.code = 3});
  job.lose(1, "connection reset");
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, 3);
  EXPECT_THAT(job.log(), Contains("job: host node2 was lost: connection reset"));
}

TEST(JobLostHost, WhoseInstancesHadEndedHarmsNothing) {
  JobFixture job(2, 2);
  job.startAll();
  job.endAndClose(0, kSuccess);
  job.lose(0, "connection reset");
  EXPECT_EQ(job.agent(1).stops, 0);
  job.endAndClose(1, kSuccess);
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, 0);
}

TEST(JobLostHost, WhoseInstancesHadEndedButWereStillHeardOfLosesTheirOutput) {
  JobFixture job(2, 2);
  job.startAll();
  job.ended(0, kSuccess);
  job.lose(0, "connection reset");
  job.endAndClose(1, {.signal = SIGTERM});
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, contract::kExitLauncherFailed);
}

TEST(JobLostHost, WhileStartingLosesThoseThatHadNotStarted) {
  JobFixture job(2, 2);
  job.job().start();
  job.started(0);
  job.lose(1, "connection reset");
  EXPECT_EQ(job.agent(0).announced.at(0).text, "instance 1 was lost with its host");
  job.endAndClose(0, {.signal = SIGTERM});
  EXPECT_TRUE(job.done());
}

TEST(JobLostHost, NeverReachedAreAllNamedWhenTheLastHasAnswered) {
  JobFixture job(3, 3);
  job.agent(0).failDescribe(unavailable("connection refused"));
  job.agent(1).holdDescribe();
  job.agent(2).failDescribe(unavailable("connection refused"));
  job.job().start();
  EXPECT_FALSE(job.done()) << "the second may still fail, for a reason of its own";
  job.agent(1).answerDescribe();
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().failure->reason,
            "the job cannot be placed on hosts node1 and node3: connection refused");
  EXPECT_EQ(job.outcome().exit_code, contract::kExitLauncherFailed);
}

TEST(JobLostHost, IsLeftOutWhenTheJobStartsAgain) {
  JobFixture job(elastic(1, 2));
  job.startAll();
  job.lose(1, "connection reset");
  endAll(job, {0, 1, 4, 5}, {.signal = SIGTERM});
  EXPECT_FALSE(job.done());
  ASSERT_EQ(job.failedAttempts().size(), 1U);
  EXPECT_EQ(job.failedAttempts()[0].failure->reason, "host node2 was lost: connection reset");
  job.loop().advance(milliseconds(0));
  EXPECT_EQ(job.agent(1).runs, 1);
  ASSERT_EQ(job.agent(2).runs, 2);
  EXPECT_EQ(job.agent(0).slice.instances.size(), 3U);
  ASSERT_EQ(job.agent(2).slice.instances.size(), 3U);
  EXPECT_EQ(job.agent(2).slice.instances[0].env.instance_index, 3);
  EXPECT_EQ(job.agent(2).slice.instances[0].place.host_name, "node3");
  for (const int instance : {0, 1, 2}) job.agent(0).events->onStarted(instance, 800);
  for (const int instance : {3, 4, 5}) job.agent(2).events->onStarted(instance, 800);
  job.agent(0).events->onFenceReached(FenceId::kInstances, {});
  EXPECT_TRUE(job.agent(0).released.empty());
  job.agent(2).events->onFenceReached(FenceId::kInstances, {});
  EXPECT_EQ(job.agent(0).released.size(), 1U) << "of the hosts that are left";
  for (const int instance : {0, 1, 2, 3, 4, 5}) {
    AgentEvents& events = *job.agent(instance < 3 ? 0 : 2).events;
    events.onEnded(instance, {});
    events.onClosed(instance);
  }
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, 0);
  EXPECT_EQ(job.outcome().restarts, 1);
}

TEST(JobLostHost, EndsTheJobWhenTooFewAreLeft) {
  JobFixture job(elastic(1, {}));
  job.startAll();
  job.lose(1, "connection reset");
  endAll(job, {0, 1, 4, 5}, {.signal = SIGTERM});
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().why_not_again, "only 2 of its hosts are left; it needs at least 3 (--min-hosts)");
}

TEST(JobLostHost, EndsTheJobWhenItsInstancesCannotBeDividedOverTheRest) {
  model::JobSpec spec = JobFixture::specFor(3, 3);
  spec.max_restarts = 1;
  spec.min_hosts = 1;
  JobFixture job(spec);
  job.startAll();
  job.lose(1, "connection reset");
  endAll(job, {0, 2}, {.signal = SIGTERM});
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().why_not_again.substr(0, 92),
            "on the 2 hosts that are left: --num-instances 3 cannot be divided evenly over 2 hosts: use -");
}

TEST(JobLostHost, ThatIsNotReachedIsLeftOutToo) {
  JobFixture job(elastic(1, 2));
  job.agent(2).failDescribe(unavailable("unknown host name"));
  job.job().start();
  ASSERT_EQ(job.failedAttempts().size(), 1U);
  job.loop().advance(milliseconds(0));
  EXPECT_EQ(job.agent(0).runs, 1);
  EXPECT_EQ(job.agent(2).runs, 0);
  EXPECT_EQ(job.agent(1).slice.instances.size(), 3U);
}

// It has run the first attempt, is alive, and cannot take part in the second one.
TEST(JobLostHost, ThatIsLeftOutIsHeardNoMore) {
  JobFixture job(elastic(2, 2));
  job.startAll();
  endAll(job, {0, 1, 2, 3, 4, 5}, {.code = 1});
  job.agent(1).failDescribe(unavailable("no address of this host is in --host-subnet"));
  job.loop().advance(milliseconds(0));
  ASSERT_EQ(job.failedAttempts().size(), 2U);
  job.loop().advance(milliseconds(0));
  ASSERT_EQ(job.agent(2).runs, 2);
  job.agent(1).events->onAborted(2, 9, "a process that the first attempt has left behind");
  job.agent(1).events->onFenceReached(FenceId::kInstances, {});
  job.agent(1).events->onLost(unavailable("connection reset"));
  EXPECT_EQ(job.agent(0).stops, 1) << "in the first attempt";
  for (const int instance : {0, 1, 2, 3, 4, 5}) {
    AgentEvents& events = *job.agent(instance < 3 ? 0 : 2).events;
    events.onStarted(instance, 800);
    events.onEnded(instance, {});
    events.onClosed(instance);
  }
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, 0);
}

TEST(JobLostHost, WhileItWaitsToBeStartedAgainIsLeftOutToo) {
  model::JobSpec spec = elastic(2, 2);
  spec.restart_delay = milliseconds(1000);
  JobFixture job(spec);
  job.startAll();
  endAll(job, {0, 1, 2, 3, 4, 5}, {.code = 1});
  EXPECT_FALSE(job.done());
  job.lose(0, "connection reset");
  job.loop().advance(milliseconds(1000));
  EXPECT_EQ(job.agent(0).runs, 1);
  EXPECT_EQ(job.agent(1).slice.instances.size(), 3U);
}

TEST(JobLostHost, WhileItWaitsMayBeTheEnd) {
  model::JobSpec spec = elastic(2, {});
  spec.restart_delay = milliseconds(1000);
  JobFixture job(spec);
  job.startAll();
  endAll(job, {0, 1, 2, 3, 4, 5}, {.code = 1});
  job.lose(0, "connection reset");
  job.loop().advance(milliseconds(1000));
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, contract::kExitLauncherFailed);
  EXPECT_EQ(job.outcome().failure->reason, "the job cannot be placed on host node1: connection reset");
  EXPECT_THAT(job.outcome().why_not_again, ::testing::HasSubstr("--min-hosts"));
}

TEST(JobFence, IsNotWaitedForOnHostsWithoutInstances) {
  model::JobSpec spec = JobFixture::specFor(2, 2);
  spec.hosts = {{"big", 2}, {"idle", 1}};
  JobFixture job(spec);
  job.startAll();
  job.agent(0).events->onFenceReached(FenceId::kInstances, {});
  EXPECT_EQ(job.agent(0).released.size(), 1U);
}

}  // namespace
}  // namespace pop
