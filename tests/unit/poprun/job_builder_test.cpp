// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/job_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pop {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Options optionsFor(int instances) {
  Options options;
  options.programs.front().num_instances = instances;
  options.programs.front().command = {"./train", "--data", "/data"};
  return options;
}

BuiltJob built(const Options& options) {
  return buildJob(options, {"node7", [](const char*) -> const char* { return nullptr; }});
}

std::vector<std::string> mistakesOf(const Options& options) {
  return built(options).mistakes;
}

TEST(BuildJob, CopiesTheOptions) {
  Options options = optionsFor(2);
  options.num_replicas = 4;
  options.ipus_per_replica = 2;
  options.offline_mode = true;
  const BuiltJob job = built(options);
  EXPECT_THAT(job.mistakes, IsEmpty());
  EXPECT_THAT(job.spec.hosts, ElementsAre(model::Host{"localhost"}));
  EXPECT_EQ(job.spec.num_instances, 2);
  EXPECT_EQ(job.spec.num_replicas, 4);
  EXPECT_EQ(job.spec.ipus_per_replica, 2);
  EXPECT_TRUE(job.spec.offline_mode);
  EXPECT_THAT(job.spec.programs.front().command, ElementsAre("./train", "--data", "/data"));
}

TEST(BuildJob, GivesEachInstanceAReplicaByDefault) {
  EXPECT_EQ(built(optionsFor(8)).spec.num_replicas, 8);
}

TEST(BuildJob, EmulatesTheSmallestPodThatFits) {
  Options options = optionsFor(4);
  EXPECT_EQ(built(options).spec.system, "pod4");
  options.num_replicas = 8;
  EXPECT_EQ(built(options).spec.system, "pod16");
  options.ipus_per_replica = 8;
  EXPECT_EQ(built(options).spec.system, "pod64");
}

TEST(BuildJob, EmulatesThePodThatIsAskedFor) {
  Options options = optionsFor(4);
  options.system = "BOW-Pod16";
  const BuiltJob job = built(options);
  EXPECT_THAT(job.mistakes, IsEmpty());
  EXPECT_EQ(job.spec.system, "bow-pod16");
}

TEST(BuildJob, RefusesAPodThatIsTooSmall) {
  Options options = optionsFor(4);
  options.num_replicas = 12;
  options.ipus_per_replica = 2;
  options.system = "pod16";
  EXPECT_THAT(mistakesOf(options),
              ElementsAre(HasSubstr("--system pod16: 12 replicas of 2 IPUs on pod16: that takes "
                                    "24 IPUs and there are 16; reduce the number of replicas")));
}

TEST(BuildJob, RefusesAPodThatDoesNotExist) {
  Options options = optionsFor(1);
  options.system = "pod5";
  EXPECT_THAT(mistakesOf(options),
              ElementsAre(HasSubstr("--system: no Pod is called 'pod5': use one of pod4, pod16")));
}

TEST(BuildJob, MayHaveMoreIpusThanAnyPodAsLongAsNoneIsAskedFor) {
  Options options = optionsFor(16);
  options.num_replicas = 1024;
  EXPECT_THAT(mistakesOf(options), IsEmpty()) << "a program that uses none needs none";
  EXPECT_EQ(built(options).spec.system, "");
  options.system = "pod256";
  EXPECT_THAT(mistakesOf(options), ElementsAre(HasSubstr("--system pod256: 1024 replicas")));
}

TEST(BuildJob, TakesThisHostByAnyOfItsNames) {
  for (const char* name : {"localhost", "127.0.0.1", "::1", "node7"}) {
    Options options = optionsFor(1);
    options.host = name;
    const BuiltJob job = built(options);
    EXPECT_THAT(job.mistakes, IsEmpty()) << name;
    EXPECT_THAT(job.spec.hosts, ElementsAre(model::Host{name}))
        << "the user's own word is what the table shows";
  }
}

TEST(BuildJob, RefusesOtherHostsByName) {
  Options options = optionsFor(2);
  options.host = "node7,node8";
  EXPECT_THAT(
      mistakesOf(options),
      ElementsAre(
          "--host node8: unknown host; this version starts instances on this host only (localhost, or "
          "node7)",
          "--host: this version takes a single host, this one"));
  options.host = "";
  EXPECT_THAT(mistakesOf(options), ElementsAre("--host: '' has an empty host name"));
}

TEST(BuildJob, OutputCanOnlyComeFromAnInstanceThatExists) {
  Options options = optionsFor(2);
  options.only_output_from_instance = 1;
  EXPECT_THAT(mistakesOf(options), IsEmpty());
  for (const int instance : {2, -1}) {
    options.only_output_from_instance = instance;
    EXPECT_THAT(mistakesOf(options), ElementsAre("--only-output-from-instance " + std::to_string(instance) +
                                                 ": there are only instances 0 to 1 (--num-instances)"));
  }
}

TEST(BuildJob, SaysThatTheProgramIsMissingAndChecksTheRest) {
  Options options = optionsFor(1);
  options.programs.front().command.clear();
  options.system = "pod5";
  EXPECT_THAT(mistakesOf(options), ElementsAre(HasSubstr("no program"), HasSubstr("'pod5'")));
}

TEST(BuildJob, ReportsMistakesOfAllKindsAtOnce) {
  Options options = optionsFor(3);
  options.host = "a,,b";
  options.num_replicas = 4;
  options.ipus_per_replica = 3;
  options.only_output_from_instance = 7;
  EXPECT_THAT(mistakesOf(options),
              ElementsAre(HasSubstr("--host: 'a,,b'"), HasSubstr("--num-replicas 4"),
                          HasSubstr("--ipus-per-replica 3"), HasSubstr("--only-output-from-instance 7")));
}

TEST(BuildJob, OneWrongNumberIsOneMistake) {
  EXPECT_THAT(mistakesOf(optionsFor(0)), ElementsAre("--num-instances 0: must be at least 1"))
      << "the default of --num-replicas is not the user's mistake";
}

TEST(BuildJob, NumbersOutOfRangeDoNotReachTheArithmetic) {
  Options options = optionsFor(0);
  options.num_replicas = -1;
  options.ipus_per_replica = 0;
  options.only_output_from_instance = 0;
  EXPECT_THAT(mistakesOf(options),
              ElementsAre("--num-instances 0: must be at least 1", "--num-replicas -1: must be at least 1",
                          "--ipus-per-replica 0: must be at least 1"));
}

}  // namespace
}  // namespace pop
