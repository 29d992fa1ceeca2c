// SPDX-License-Identifier: Apache-2.0
// Mistakes in a job's numbers. Each message names the option to change and values that would do.
#include "common/model/job_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>
#include <string>
#include <vector>

namespace pop::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Mistakes = std::vector<std::string>;

JobSpec job(int instances, int replicas, int ipus_per_replica = 1) {
  return {.programs = {{.command = {"./train"}, .num_instances = instances}},
          .num_instances = instances,
          .num_replicas = replicas,
          .ipus_per_replica = ipus_per_replica};
}

TEST(FindMistakes, IsContentWithDocumentedJobs) {
  EXPECT_THAT(findMistakes(job(1, 1)), IsEmpty());
  EXPECT_THAT(findMistakes(job(8, 16)), IsEmpty());      // POD16
  EXPECT_THAT(findMistakes(job(4, 8, 2)), IsEmpty());    // POD16, pipelined
  EXPECT_THAT(findMistakes(job(16, 64, 4)), IsEmpty());  // POD256
  EXPECT_THAT(findMistakes(job(128, 256)), IsEmpty());
}

TEST(FindMistakes, WantsReplicasDividedEvenlyOverInstances) {
  EXPECT_THAT(
      findMistakes(job(2, 5)),
      ElementsAre("--num-replicas 5 cannot be divided evenly over 2 instances: use --num-replicas 4 or 6, "
                  "another --num-instances, or --uneven-replicas yes"));
  EXPECT_THAT(
      findMistakes(job(4, 3)),
      ElementsAre("--num-replicas 3 cannot be divided evenly over 4 instances: use --num-replicas 4, or "
                  "another --num-instances"));
}

TEST(FindMistakes, LetsReplicasBeUnevenWhenTheUserDoes) {
  JobSpec spec = job(2, 5);
  spec.uneven_replicas = true;
  EXPECT_THAT(findMistakes(spec), IsEmpty());
  spec = job(4, 3);
  spec.uneven_replicas = true;
  EXPECT_THAT(findMistakes(spec),
              ElementsAre("--num-replicas 3: each of the 4 instances needs at least one replica"));
  spec = job(2, 127);  // 64 and 63
  spec.uneven_replicas = true;
  EXPECT_THAT(findMistakes(spec), IsEmpty());
  spec.num_replicas = 129;
  EXPECT_THAT(findMistakes(spec), ElementsAre(HasSubstr("instance 0 would lie in two IPU-Link domains")));
  spec = job(4, 130);
  spec.uneven_replicas = true;
  spec.num_ilds = 2;  // 33 + 33 and 32 + 32
  EXPECT_THAT(findMistakes(spec), ElementsAre(HasSubstr("each IPU-Link domain would have 66 IPUs")));
}

TEST(FindMistakes, WantsAHostForEachPodUnlessOneHostEmulatesAll) {
  JobSpec spec = job(8, 256);  // four Pods
  EXPECT_THAT(findMistakes(spec), IsEmpty());
  spec.hosts = {{"a"}, {"b"}};
  EXPECT_THAT(findMistakes(spec), ElementsAre(HasSubstr("--host: the job's IPUs are in 4 Pods, each of which "
                                                        "needs a host, and there are 2; use more hosts")));
  spec.hosts = {{"a"}, {"b"}, {"c"}, {"d"}};
  EXPECT_THAT(findMistakes(spec), IsEmpty());
  spec = job(8, 256);
  spec.partition.name = "p";
  EXPECT_THAT(findMistakes(spec), ElementsAre(HasSubstr("needs a host, and there is 1")));
}

TEST(FindMistakes, WantsNoMoreHostsThanThereAre) {
  JobSpec spec = job(2, 2);
  spec.hosts = {{"a"}, {"b"}};
  for (const int right : {1, 2}) {
    spec.min_hosts = right;
    EXPECT_THAT(findMistakes(spec), IsEmpty());
  }
  for (const int wrong : {-1, 0, 3}) {
    spec.min_hosts = wrong;
    EXPECT_THAT(findMistakes(spec), ElementsAre("--min-hosts " + std::to_string(wrong) +
                                                ": must be at least 1 and at most 2, the number of hosts"));
  }
}

TEST(FindMistakes, WantsATrainerBesidesTheEvaluator) {
  JobSpec spec = job(1, 1);
  spec.tf_tasks.evaluator = true;
  EXPECT_THAT(
      findMistakes(spec),
      ElementsAre("--tf-config-tasks evaluator: the last instance evaluates, so there must be at least "
                  "--num-instances 2"));
  spec = job(2, 2);
  spec.tf_tasks = {.chief = true, .evaluator = true};
  EXPECT_THAT(findMistakes(spec), IsEmpty());
}

TEST(FindMistakes, WantsInstancesDividedEvenlyOverHosts) {
  JobSpec spec = job(3, 3);
  spec.hosts = {{"a"}, {"b"}};
  EXPECT_THAT(findMistakes(spec), ElementsAre("--num-instances 3 cannot be divided evenly over 2 hosts: use "
                                              "--num-instances 2 or 4, or another --host list"));
}

TEST(FindMistakes, WantsNoMoreInstancesThanSlots) {
  JobSpec spec = job(3, 3);
  spec.hosts = {{"a", 2}, {"b"}};  // b has one
  EXPECT_THAT(findMistakes(spec), IsEmpty());
  spec = job(4, 4);
  spec.hosts = {{"a", 2}, {"b"}};
  EXPECT_THAT(
      findMistakes(spec),
      ElementsAre("--num-instances 4: the hosts have 3 slots; use fewer instances, give the hosts more slots "
                  "(--host name:N, slots=N in a --hostfile), or --oversubscribe yes"));
}

TEST(FindMistakes, WantsInstancesDividedEvenlyOverTheChosenDomains) {
  JobSpec spec = job(4, 8);
  for (const int right : {1, 2, 4}) {
    spec.num_ilds = right;
    EXPECT_THAT(findMistakes(spec), IsEmpty()) << right;
  }
  for (const int wrong : {-1, 0, 3, 5, INT_MAX}) {
    spec.num_ilds = wrong;
    EXPECT_THAT(findMistakes(spec), ElementsAre(HasSubstr("--num-ilds " + std::to_string(wrong)))) << wrong;
  }
  spec = job(2, 32, 8);
  spec.num_ilds = 2;
  EXPECT_THAT(findMistakes(spec),
              ElementsAre("--num-ilds 2: each IPU-Link domain would have 128 IPUs, and has at "
                          "most 64; use more domains"));
}

TEST(FindMistakes, LooksAtEachOfSeveralPrograms) {
  JobSpec spec = job(2, 2);
  spec.programs = {{.command = {"a"}, .num_instances = 2}, {.command = {}, .num_instances = 0}};
  EXPECT_THAT(findMistakes(spec),
              ElementsAre(HasSubstr("program 2 of the ':'-separated programs: its command is missing"),
                          HasSubstr("--num-instances 0: must be at least 1")));
}

TEST(FindMistakes, WantsEachInstanceInOneIpuLinkDomain) {
  const auto straddles = [](const std::string& instance) {
    return HasSubstr("the IPUs of instance " + instance + " would lie in two IPU-Link domains (of 64 IPUs)");
  };
  EXPECT_THAT(findMistakes(job(1, 128)), ElementsAre(straddles("0"))) << "too many for any domain";
  EXPECT_THAT(findMistakes(job(2, 96)), ElementsAre(straddles("1"))) << "IPUs 48 to 95";
  EXPECT_THAT(findMistakes(job(4, 48, 2)), ElementsAre(straddles("2")));
  EXPECT_THAT(findMistakes(job(2, 128)), IsEmpty());
  EXPECT_THAT(findMistakes(job(3, 96)), IsEmpty());
  EXPECT_THAT(findMistakes(job(1, 64)), IsEmpty());
}

TEST(FindMistakes, WantsIpusPerReplicaToBeAPowerOfTwo) {
  EXPECT_THAT(findMistakes(job(1, 1, 3)),
              ElementsAre("--ipus-per-replica 3: must be a power of two; use 2 or 4"));
  EXPECT_THAT(findMistakes(job(1, 1, 64)), IsEmpty());
}

TEST(FindMistakes, SuggestsNoNumberThatItWouldRefuse) {
  EXPECT_THAT(findMistakes(job(1, 1, 100)), ElementsAre("--ipus-per-replica 100: must be at most 64"));
}

TEST(FindMistakes, WantsAProgram) {
  JobSpec spec = job(1, 1);
  spec.programs.front().command.clear();
  EXPECT_THAT(findMistakes(spec),
              ElementsAre("no program: name it after the options, as in `poprun --num-instances 2 ./train`"));
}

TEST(FindMistakes, RefusesNumbersOutOfRange) {
  EXPECT_THAT(findMistakes(job(0, 1)), ElementsAre("--num-instances 0: must be at least 1"));
  EXPECT_THAT(findMistakes(job(1, -4)), ElementsAre("--num-replicas -4: must be at least 1"));
  EXPECT_THAT(findMistakes(job(1, 1, 0)), ElementsAre("--ipus-per-replica 0: must be at least 1"));
  EXPECT_THAT(findMistakes(job(65537, 65537)), ElementsAre("--num-instances 65537: must be at most 65536"));
  EXPECT_THAT(findMistakes(job(1, (1 << 20) + 1)),
              ElementsAre("--num-replicas 1048577: must be at most 1048576"));
  EXPECT_THAT(findMistakes(job(1, 1, 128)), ElementsAre("--ipus-per-replica 128: must be at most 64"));
}

TEST(FindMistakes, SurvivesTheExtremes) {
  for (const int extreme : {INT_MIN, -1, 0, INT_MAX}) {
    JobSpec spec = job(extreme, extreme, extreme);
    spec.programs.front().command.clear();
    EXPECT_GE(findMistakes(spec).size(), 4U) << extreme;
  }
}

TEST(FindMistakes, ReportsEverythingAtOnce) {
  JobSpec spec = job(3, 400, 6);
  spec.hosts = {{"a"}, {"b"}};
  spec.programs.front().command.clear();
  EXPECT_THAT(findMistakes(spec),
              ElementsAre(HasSubstr("over 3 instances"), HasSubstr("over 2 hosts"),
                          HasSubstr("must be a power of two; use 4 or 8"), HasSubstr("no program")));
}

TEST(PartitionIpus, RoundsUpToAPowerOfTwo) {
  EXPECT_EQ(partitionIpus(job(1, 1)), 1);
  EXPECT_EQ(partitionIpus(job(1, 3)), 4);
  EXPECT_EQ(partitionIpus(job(1, 4)), 4);
  EXPECT_EQ(partitionIpus(job(1, 5, 2)), 16);
  EXPECT_EQ(partitionIpus(job(1, 65)), 128);
  EXPECT_EQ(partitionIpus(job(1, 1 << 20, 64)), 1 << 26) << "the largest that findMistakes accepts";
}

}  // namespace
}  // namespace pop::model
