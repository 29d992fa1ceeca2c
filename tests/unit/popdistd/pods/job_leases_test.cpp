// SPDX-License-Identifier: Apache-2.0
// Jobs and their partitions: made, used, reset, made anew, removed; what a job waits for.
#include <gmock/gmock.h>

#include "tests/unit/popdistd/pods/pods_fixture.h"

namespace pop::popdistd::testing {
namespace {

class JobLeasesTest : public PodsTest {
 protected:
  JobLeasesTest() { join("h0", 100); }

  FakeHost& h0() { return hosts_.at("h0"); }
  void finish(std::int64_t id, int attempt = 1) {
    h0().finish({id, attempt}, 0);
    settle();
  }
  bool waits(std::int64_t id, const std::string& words) {
    const v1::JobInfo info = job(id);
    EXPECT_EQ(info.state(), v1::JOB_QUEUED);
    EXPECT_NE(info.reason().find(words), std::string::npos) << info.reason();
    return info.state() == v1::JOB_QUEUED && info.reason().find(words) != std::string::npos;
  }
  model::JobSpec specOf(std::int64_t id) {
    return wire::decodeSpec(h0().runners.at({id, 1}).start.spec()).value();
  }
};

TEST_F(JobLeasesTest, AJobMakesItsPartitionWhichGoesWithIt) {
  const std::int64_t id = submit(inPartition("p"));
  const auto info = partition("p");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->job(), id);
  EXPECT_EQ(info->size(), 16);
  EXPECT_EQ(info->num_gcds(), 2);
  EXPECT_EQ(job(id).partition(), "p");
  EXPECT_EQ(specOf(id).partition.server_host, "d0");
  EXPECT_EQ(specOf(id).partition.name, "p");
  checkStore();
  finish(id);
  EXPECT_EQ(job(id).end(), v1::END_SUCCEEDED);
  EXPECT_FALSE(partition("p"));
  checkStore();
}

TEST_F(JobLeasesTest, AJobsPodIsItsPartition) {
  EXPECT_THAT(specOf(submit(inPartition("p"))).system,
              ::testing::StartsWith("system p; ilds 1; machines 4; machines-per-gateway 1; topology mesh;"));
  v1::SubmitRequest named = inPartition("q");
  named.mutable_spec()->set_system("bow-pod16");
  EXPECT_EQ(specOf(submit(named)).system, "bow-pod16");
}

TEST_F(JobLeasesTest, ASystemThatItsPartitionIsNotEndsTheJob) {
  v1::SubmitRequest named = inPartition("p");
  named.mutable_spec()->set_system("pod64-torus");
  const v1::JobInfo info = job(submit(named));
  EXPECT_EQ(info.end(), v1::END_FAILED);
  EXPECT_THAT(info.reason(), ::testing::HasSubstr(
                                 "system 'pod64-torus' (--system) has 1 IPU-Link domain of 64 IPUs (torus), "
                                 "and partition 'p' 1 IPU-Link domain of 16 IPUs (mesh)"));
  EXPECT_FALSE(partition("p")) << "it was made for that job";
  checkStore();
}

TEST_F(JobLeasesTest, APartitionIsKeptIfTheJobSaysSo) {
  v1::SubmitRequest request = inPartition("p");
  request.mutable_spec()->mutable_partition()->set_remove(false);
  finish(submit(request));
  EXPECT_EQ(partition("p")->job(), 0);
}

TEST_F(JobLeasesTest, AJobWithoutPartitionNeedsNone) {
  EXPECT_EQ(job(submit(requestOf())).state(), v1::JOB_RUNNING);
  EXPECT_EQ(capacity().owned(), 0);
}

TEST_F(JobLeasesTest, OneThatIsThereIsResetAndStays) {
  create("p", 16, "alice", 2);
  const auto before = partition("p")->changed();
  advance(seconds(2));
  const std::int64_t id = submit(inPartition("p"));
  EXPECT_EQ(job(id).state(), v1::JOB_RUNNING);
  EXPECT_GT(partition("p")->changed().seconds(), before.seconds());
  finish(id);
  EXPECT_TRUE(partition("p"));
  create("r", 16, "alice", 1, true);
  const auto unchanged = partition("r")->changed();
  advance(seconds(2));
  submit(inPartition("r", 1));
  EXPECT_EQ(partition("r")->changed().seconds(), unchanged.seconds());
}

TEST_F(JobLeasesTest, ItWaitsForTheOneThatHoldsIt) {
  create("p", 16, "alice", 2);
  const std::int64_t first = submit(inPartition("p"));
  const std::int64_t second = submit(inPartition("p"));
  EXPECT_TRUE(waits(second, "partition p is held by job " + std::to_string(first)));
  EXPECT_EQ(remove("p").code(), Code::kFailedPrecondition);
  finish(first);
  EXPECT_EQ(partition("p")->job(), second);
  EXPECT_EQ(job(second).state(), v1::JOB_RUNNING);
}

TEST_F(JobLeasesTest, ItWaitsForIpusAndIsNotOvertaken) {
  create("a", 32);
  create("b", 16);
  create("c", 8);
  const std::int64_t large = submit(inPartition("large"));
  advance(queue_rules_.backfill_age);
  const std::int64_t small = submit(inPartition("small", 1));  // would fit
  const std::int64_t other = submit(requestOf());
  EXPECT_TRUE(waits(large, "the largest free block has 8"));
  EXPECT_TRUE(waits(small, "IPUs are kept for job " + std::to_string(large)));
  EXPECT_EQ(job(other).state(), v1::JOB_RUNNING);
  remove("b");
  EXPECT_EQ(job(large).state(), v1::JOB_RUNNING);
  EXPECT_EQ(job(small).state(), v1::JOB_RUNNING);
}

TEST_F(JobLeasesTest, OneThatDoesNotFitIsMadeAnewOnlyIfTheJobSaysSo) {
  create("p", 8);
  const std::int64_t refused = submit(inPartition("p"));
  EXPECT_EQ(job(refused).end(), v1::END_FAILED);
  EXPECT_NE(job(refused).reason().find("--update-partition"), std::string::npos) << job(refused).reason();
  EXPECT_EQ(partition("p")->size(), 8);
  create("q", 16);  // one GCD for two instances
  EXPECT_EQ(job(submit(inPartition("q"))).end(), v1::END_FAILED);
  v1::SubmitRequest request = inPartition("p");
  request.mutable_spec()->mutable_partition()->set_update(true);
  const std::int64_t id = submit(request);
  EXPECT_EQ(job(id).state(), v1::JOB_RUNNING);
  EXPECT_EQ(partition("p")->size(), 16);
  checkStore();
}

TEST_F(JobLeasesTest, TheOldOneStaysWhileThereIsNoRoomForTheNew) {
  create("p", 8);
  create("full", 32);
  create("too", 16);
  v1::SubmitRequest request = inPartition("p");
  request.mutable_spec()->mutable_partition()->set_update(true);
  const std::int64_t id = submit(request);
  EXPECT_EQ(job(id).state(), v1::JOB_RUNNING);  // in the place of the old one and its neighbours
  finish(id);
  create("p", 8);
  create("q", 8);
  const std::int64_t waiting = submit(request);
  EXPECT_TRUE(waits(waiting, "the largest free block has 8"));
  EXPECT_EQ(partition("p")->size(), 8);
}

TEST_F(JobLeasesTest, WhatCanNeverBeIsRefusedAtOnce) {
  EXPECT_EQ(trySubmit(inPartition("p", 3)).code(), Code::kInvalidArgument);  // 3 GCDs
  EXPECT_EQ(trySubmit(inPartition("no name")).code(), Code::kInvalidArgument);
  v1::SubmitRequest request = inPartition("p");
  request.mutable_spec()->mutable_partition()->set_allocation("nowhere");
  EXPECT_EQ(trySubmit(request).code(), Code::kNotFound);
  request = inPartition("p");
  request.mutable_spec()->mutable_partition()->set_sync_type("ST_NONE");
  EXPECT_EQ(trySubmit(request).code(), Code::kInvalidArgument);
}

TEST_F(JobLeasesTest, ItStartsWhenItsPartitionIsConfigured) {
  setDelay(seconds(5));
  join("h0", 100);
  const std::int64_t id = submit(inPartition("p"));
  EXPECT_TRUE(waits(id, "partition p is being configured"));
  const std::int64_t cancelled = submit(inPartition("q"));
  EXPECT_TRUE(partition("q"));
  cancel(cancelled);
  EXPECT_FALSE(partition("q"));
  advance(seconds(7));
  EXPECT_EQ(job(id).state(), v1::JOB_RUNNING);
  EXPECT_EQ(h0().runners.size(), 1U);
}

TEST_F(JobLeasesTest, AnotherHostStartsItWithTheSamePartition) {
  join("h1", 100);
  h0().refuses = failedPrecondition("no home");
  const std::int64_t id = submit(inPartition("p"));
  EXPECT_EQ(job(id).hosts(0), "h1");
  EXPECT_EQ(job(id).attempt(), 2);
  EXPECT_EQ(partition("p")->job(), id);
  checkStore();
}

TEST_F(JobLeasesTest, ForceCancelsTheJobFirst) {
  create("p", 16, "alice", 2);
  const std::int64_t id = submit(inPartition("p"));
  EXPECT_EQ(remove("p", true).code(), Code::kOk);
  EXPECT_EQ(job(id).state(), v1::JOB_ENDING);
  EXPECT_EQ(partition("p")->state(), v1::PARTITION_REMOVING);
  EXPECT_EQ(h0().runners.at({id, 1}).stops.size(), 1U);
  finish(id);
  EXPECT_FALSE(partition("p"));
}

TEST_F(JobLeasesTest, AHostThatWasLostIsAskedFirst) {
  FakeHost& h1 = join("h1", 100);
  v1::SubmitRequest request = inPartition("p");
  request.set_num_hosts(2);
  const std::int64_t id = submit(request);
  FakeHost& first = hosts_.at(job(id).hosts(0));
  FakeHost& second = &first == &h1 ? h0() : h1;
  second.agents_of.insert(first.runners.at({id, 1}).start.agent_job_id());
  v1::JobEvent event;
  event.mutable_outcome()->set_exit_code(125);
  event.mutable_outcome()->mutable_failure()->set_hosts_lost(true);
  first.runners.at({id, 1}).job_over = true;
  first.event({id, 1}, event);
  settle();
  EXPECT_EQ(job(id).end(), v1::END_FAILED);
  advance(seconds(3));
  EXPECT_EQ(partition("p")->job(), id);
  second.agents_of.clear();
  advance(seconds(2));
  EXPECT_FALSE(partition("p"));
}

}  // namespace
}  // namespace pop::popdistd::testing
