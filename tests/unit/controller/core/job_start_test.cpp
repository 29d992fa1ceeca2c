// SPDX-License-Identifier: Apache-2.0
// From a job to what its agents are told: who runs where, with which environment, addresses and ports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/unit/controller/core/job_fixture.h"

namespace pop {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

model::JobSpec fourInstancesOnTwoHosts() {
  model::JobSpec spec = JobFixture::specFor(2, 4);
  spec.num_replicas = 8;
  spec.ipus_per_replica = 2;
  spec.system = "pod16";
  spec.offline_mode = true;
  spec.programs.front().command = {"./train", "--data", "/data"};
  spec.programs.front().working_directory = "/home/user";
  spec.executable_cache_path = "/cache";
  spec.kill_grace = std::chrono::milliseconds(1234);
  return spec;
}

TEST(JobStart, AsksForThePortsOfEachHost) {
  JobFixture job(2, 6);
  job.job().start();
  EXPECT_EQ(job.agent(0).ports_asked, 3 + 3);
  EXPECT_EQ(job.agent(1).ports_asked, 3);
}

TEST(JobStart, WaitsForEveryHostsFacts) {
  JobFixture job(2, 2);
  job.agent(1).holdDescribe();
  job.job().start();
  EXPECT_EQ(job.job().state(), JobState::kPending);
  EXPECT_EQ(job.agent(0).runs, 0);
  job.agent(1).answerDescribe();
  EXPECT_EQ(job.job().state(), JobState::kStarting);
  EXPECT_EQ(job.agent(0).runs, 1);
  EXPECT_EQ(job.agent(1).runs, 1);
}

TEST(JobStart, GivesEachHostItsSlice) {
  JobFixture job(fourInstancesOnTwoHosts());
  job.job().start();
  const JobSlice& slice = job.agent(1).slice;
  EXPECT_EQ(slice.job_id, "4f2a");
  EXPECT_EQ(slice.num_instances, 4);
  ASSERT_EQ(slice.programs.size(), 1U);
  EXPECT_THAT(slice.programs[0].command, ElementsAre("./train", "--data", "/data"));
  EXPECT_EQ(slice.programs[0].working_directory, "/home/user");
  EXPECT_EQ(slice.kill_grace, std::chrono::milliseconds(1234));
  ASSERT_EQ(slice.instances.size(), 2U);
  const contract::InstanceEnv expected{.num_total_replicas = 8,
                                       .num_ipus_per_replica = 2,
                                       .num_local_replicas = 2,
                                       .uniform_replicas = true,
                                       .replica_index_offset = 6,
                                       .num_instances = 4,
                                       .instance_index = 3,
                                       .num_local_instances = 2,
                                       .local_instance_index = 1,
                                       .job_id = "4f2a",
                                       .executable_cache_path = "/cache",
                                       .system = "pod16",
                                       .offline = true};
  EXPECT_EQ(slice.instances[1].env, expected);
  EXPECT_EQ(job.agent(0).slice.instances[1].env.instance_index, 1);
}

TEST(JobStart, TakesAddressesFromWhoKnowsBetter) {
  JobFixture job(2, 2);
  job.knows_better = [](std::vector<std::string>& addresses) {
    EXPECT_THAT(addresses, ElementsAre("10.0.0.1", "10.0.0.2"));
    addresses[0] = "10.9.9.9";
  };
  job.job().start();
  EXPECT_EQ(job.agent(0).slice.host_address, "10.9.9.9");
  EXPECT_EQ(job.agent(1).slice.host_address, "10.0.0.2");
  EXPECT_EQ(job.agent(1).slice.rendezvous.master_address, "10.9.9.9");
}

TEST(JobStart, WarnsOfTwoNamesOfOneHost) {
  JobFixture job(3, 3);
  job.knows_better = [](std::vector<std::string>& addresses) { addresses[2] = addresses[0]; };
  job.job().start();
  EXPECT_THAT(job.log(), Contains(AllOf(HasSubstr("hosts node1, node3 have the same address, 10.0.0.1"),
                                        HasSubstr("list it once"), HasSubstr("--host-subnet"))));
  EXPECT_EQ(job.agent(2).runs, 1);
}

TEST(JobStart, TellsEveryHostTheSameAddressesAndPorts) {
  JobFixture job(fourInstancesOnTwoHosts());
  job.job().start();
  for (int host = 0; host < 2; ++host) {
    const contract::Rendezvous& rendezvous = job.agent(host).slice.rendezvous;
    EXPECT_EQ(rendezvous.tf_cluster,
              R"({"worker":["10.0.0.1:10000","10.0.0.1:10001","10.0.0.2:11000","10.0.0.2:11001"]})");
    EXPECT_EQ(rendezvous.master_address, "10.0.0.1");
    EXPECT_EQ(rendezvous.master_port, "10002") << "a port that is no worker's";
  }
}

TEST(JobStart, RunsWhenEveryInstanceRuns) {
  JobFixture job(1, 2);
  job.job().start();
  EXPECT_EQ(job.job().state(), JobState::kStarting);
  job.started(1);
  EXPECT_EQ(job.job().state(), JobState::kStarting);
  job.started(0);
  EXPECT_EQ(job.job().state(), JobState::kRunning);
}

TEST(JobStart, AnInstanceMayEndBeforeTheLastOneStarts) {
  JobFixture job(1, 2);
  job.job().start();
  job.started(0);
  job.endAndClose(0, kSuccess);
  EXPECT_EQ(job.job().state(), JobState::kStarting);
  job.started(1);
  job.endAndClose(1, kSuccess);
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, 0);
}

TEST(JobStart, AHostThatCannotBeDescribedFailsTheJob) {
  JobFixture job(2, 2);
  job.agent(0).failDescribe({Code::kResourceExhausted, "only 1 of 2 ports are free"});
  job.job().start();
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, contract::kExitLauncherFailed);
  EXPECT_EQ(job.outcome().failure->instance, -1);
  EXPECT_EQ(job.outcome().failure->reason,
            "the job cannot be placed on host node1: only 1 of 2 ports are free");
  EXPECT_EQ(job.agent(0).runs + job.agent(1).runs, 0);
}

TEST(JobStart, TwoHostsThatCannotBeDescribedAreOneFailure) {
  JobFixture job(2, 2);
  job.agent(0).failDescribe(unavailable("first"));
  job.agent(1).failDescribe(unavailable("second"));
  job.job().start();
  EXPECT_EQ(job.reports(), 1);
  EXPECT_EQ(job.outcome().failure->reason,
            "the job cannot be placed on host node1: first\n  host node2: second");
}

TEST(JobStart, StoppedBeforeItIsPlacedNothingStarts) {
  JobFixture job(1, 1);
  job.agent(0).holdDescribe();
  job.job().start();
  job.job().stop(SIGINT);
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, 130);
  job.agent(0).answerDescribe();
  EXPECT_EQ(job.agent(0).runs, 0);
  EXPECT_EQ(job.reports(), 1);
}

TEST(JobLog, TellsTheJobsLifeInOrder) {
  JobFixture job(1, 2);
  job.startAll();
  job.endAndClose(1, kSuccess);
  job.endAndClose(0, kSuccess);
  EXPECT_THAT(job.log(), ElementsAre("job: placing 2 instances of './train' on 1 host",
                                     "job: job is starting", "0: started, pid 700", "1: started, pid 701",
                                     "job: job is running", "1: exited with code 0", "1: is closed",
                                     "0: exited with code 0", "0: is closed", "job: job is done"));
}

TEST(JobLog, DatesEachEntry) {
  JobFixture job(1, 1);
  job.startAll();
  job.loop().advance(std::chrono::seconds(90));
  job.endAndClose(0, {.code = 4});
  ASSERT_FALSE(job.entries().empty());
  EXPECT_EQ(job.entries().front().after, std::chrono::seconds(0));
  EXPECT_EQ(job.entries().back().after, std::chrono::seconds(90));
  EXPECT_EQ(job.outcome().failure->after, std::chrono::seconds(90));
}

TEST(JobLog, TellsAFailureInOrder) {
  JobFixture job(1, 2);
  job.startAll();
  job.aborted(1, 9, "loss is NaN");
  job.endAndClose(0, {.signal = SIGTERM});
  job.endAndClose(1, {.code = 9});
  EXPECT_THAT(
      std::vector<std::string>(job.log().begin() + 5, job.log().end()),
      ElementsAre("1: asks to end the job: loss is NaN", "job: job is stopping", "0: was killed by SIGTERM",
                  "0: is closed", "1: exited with code 9", "1: is closed", "job: job is done"));
}

}  // namespace
}  // namespace pop
