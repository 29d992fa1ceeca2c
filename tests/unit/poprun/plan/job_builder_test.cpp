// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/job_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/poprun/plan/built_jobs.h"

namespace pop {
namespace {

using testing::built;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using testing::mistakesOf;
using testing::optionsFor;
using ::testing::Pair;

TEST(BuildJob, KnowsThisHostByAllOfItsNamesAndAddresses) {
  Options options = optionsFor(3);
  options.host = "192.0.2.2,b,node7.example:2";
  Surroundings here{"node7", [](const char*) -> const char* { return nullptr; }};
  here.names_this_host = [](const std::string& host) {
    return host == "192.0.2.2" || host == "node7.example";
  };
  const BuiltJob job = buildJob(options, here);
  EXPECT_THAT(job.mistakes, IsEmpty());
  EXPECT_THAT(job.spec.hosts, ElementsAre(model::Host{"node7", 3}, model::Host{"b"}));
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

TEST(BuildJob, TakesOtherHosts) {
  Options options = optionsFor(4);
  options.host = "node[7-8]";
  const BuiltJob job = built(options);
  EXPECT_THAT(job.mistakes, IsEmpty());
  EXPECT_THAT(job.spec.hosts, ElementsAre(model::Host{"node7"}, model::Host{"node8"}));
}

TEST(BuildJob, TwoNamesOfThisHostAreOneHost) {
  Options options = optionsFor(3);
  options.host = "localhost,b,node7";
  const BuiltJob job = built(options);
  EXPECT_THAT(job.mistakes, IsEmpty());
  EXPECT_THAT(job.spec.hosts, ElementsAre(model::Host{"localhost", 2}, model::Host{"b"}));
}

TEST(BuildJob, AnyWordAboutAPartitionAsksForOne) {
  Options options = optionsFor(1);
  EXPECT_FALSE(needsPartition(options, built(options).spec));
  options.partition.server_host = "vipu";
  EXPECT_TRUE(needsPartition(options, built(options).spec)) << "the only one there is";
  options.partition.name = "p";
  const BuiltJob job = built(options);
  EXPECT_THAT(job.mistakes, IsEmpty());
  EXPECT_EQ(job.spec.partition, options.partition);
  EXPECT_TRUE(needsPartition(options, job.spec));
  options.controller.server = "head";
  EXPECT_FALSE(needsPartition(options, built(options).spec)) << "popdistd gets it";
  options.controller.server.clear();
  options.offline_mode = true;
  EXPECT_FALSE(needsPartition(options, built(options).spec));
}

TEST(BuildJob, SlotsSayHowManyInstancesOneProgramHas) {
  Options options = optionsFor(1);
  options.programs.front().num_instances.reset();
  options.host = "a:2,b:3";
  BuiltJob job = built(options);
  EXPECT_THAT(job.mistakes, IsEmpty());
  EXPECT_EQ(job.spec.num_instances, 5);
  EXPECT_EQ(job.spec.programs.front().num_instances, 5);
  EXPECT_EQ(job.spec.num_replicas, 5);
  options.programs.front().num_instances = 6;
  EXPECT_THAT(mistakesOf(options), ElementsAre(HasSubstr("--num-instances 6: the hosts have 5 slots")));
  options.oversubscribe = true;
  job = built(options);
  EXPECT_THAT(job.mistakes, IsEmpty());
  EXPECT_THAT(job.spec.hosts, ElementsAre(model::Host{"a"}, model::Host{"b"})) << "three on each";
}

TEST(BuildJob, ReadsTheHostfile) {
  Options options = optionsFor(3);
  options.hostfile = "my/hosts";
  const auto build = [&](const std::string& text) {
    return buildJob(options, {.host_name = "node7",
                              .variable = [](const char*) -> const char* { return nullptr; },
                              .file = [&](const std::string& path) -> Result<std::string> {
                                EXPECT_EQ(path, "my/hosts");
                                if (text.empty()) return unavailable(path + ": no");
                                return text;
                              }});
  };
  EXPECT_THAT(build("a slots=2\nb\n").spec.hosts, ElementsAre(model::Host{"a", 2}, model::Host{"b", 0}));
  EXPECT_THAT(build("a slots=x\n").mistakes, ElementsAre(HasSubstr("--hostfile: my/hosts:1: ")));
  EXPECT_THAT(build("").mistakes, ElementsAre("--hostfile: my/hosts: no"));
}

TEST(BuildJob, ForwardsVariables) {
  Options options = optionsFor(2);
  options.programs.front().environment = {"A=1", "HOME", "NOT_SET", "NOT_SET"};
  const BuiltJob job = buildJob(options, {.host_name = "node7",
                                          .variable = [](const char* name) -> const char* {
                                            const std::string_view asked = name;
                                            return asked == "HOME" ? "/home/me" : nullptr;
                                          },
                                          .environment = {{"HOME", "/home/me"}, {"PATH", "/bin"}}});
  EXPECT_THAT(job.spec.environment, ElementsAre(model::Variable{"PATH", "/bin"}));
  EXPECT_THAT(job.spec.programs.front().environment,
              ElementsAre(model::Variable{"A", "1"}, model::Variable{"HOME", "/home/me"}));
  EXPECT_THAT(job.warnings, ElementsAre("-x NOT_SET: not set here, so there is nothing to forward"));
}

TEST(BuildJob, ForwardsAllVariablesThatMatchAPattern) {
  Options options = optionsFor(1);
  options.programs.front().environment = {"A_*", "B=*", "C_*", "D,E"};
  const BuiltJob job =
      buildJob(options, {.host_name = "node7",
                         .variable = [](const char*) -> const char* { return nullptr; },
                         .environment = {{"A_2", "two"}, {"A_1", "one"}, {"AB", "x"}, {"B", "y"}}});
  EXPECT_THAT(job.spec.programs.front().environment,
              ElementsAre(Pair("A_1", "one"), Pair("A_2", "two"), Pair("B", "*")));
  EXPECT_THAT(
      job.warnings,
      ElementsAre("-x C_*: not set here, so there is nothing to forward",
                  "-x D,E: not set here, so there is nothing to forward; -x takes one name or pattern"));
}

TEST(BuildJob, RefusesRootWhenAskedTo) {
  Options options = optionsFor(1);
  const auto mistakes = [&](bool is_root) {
    return buildJob(options, {.host_name = "node7",
                              .variable = [](const char*) -> const char* { return nullptr; },
                              .is_root = is_root})
        .mistakes;
  };
  EXPECT_THAT(mistakes(true), IsEmpty());
  options.allow_run_as_root = false;
  EXPECT_THAT(mistakes(false), IsEmpty());
  EXPECT_THAT(mistakes(true), ElementsAre("--allow-run-as-root no: poprun was started by root"));
}

// Agents on other hosts start elsewhere.
TEST(BuildJob, TakesRelativeWorkingDirectoriesFromWhereItIsStarted) {
  Options options = optionsFor(1);
  options.programs.resize(3, options.programs.front());
  options.programs[0].working_directory = "run/1";
  options.programs[1].working_directory = "/data";
  Surroundings here{.variable = [](const char*) -> const char* { return nullptr; },
                    .directory = "/home/user"};
  const BuiltJob job = buildJob(options, here);
  EXPECT_EQ(job.spec.programs[0].working_directory, "/home/user/run/1");
  EXPECT_EQ(job.spec.programs[1].working_directory, "/data");
  EXPECT_EQ(job.spec.programs[2].working_directory, "");
}

TEST(BuildJob, NamesTheExecutableCacheThatInstancesGet) {
  Options options = optionsFor(1);
  Surroundings here{
      .variable =
          [](const char* name) { return std::string(name).starts_with("POPDIST") ? "/own" : nullptr; },
      .directory = "/home/user"};
  const model::JobSpec inherited = buildJob(options, here).spec;
  EXPECT_EQ(inherited.executable_cache_path, "/own");
  EXPECT_FALSE(inherited.make_executable_cache) << "it is not ours";
  options.executable_cache_path = "cache";
  EXPECT_EQ(buildJob(options, here).spec.executable_cache_path, "/home/user/cache");
}

TEST(BuildJob, TellsAllInstancesHowTheirCollectivesGo) {
  Options options = optionsFor(2);
  options.collectives = {"staged", "tcp", "segmented-ring"};
  EXPECT_THAT(built(options).spec.environment,
              IsSupersetOf({Pair("POPDIST_SHARED_ALGORITHM", "staged"), Pair("POPDIST_TRANSPORT", "tcp"),
                            Pair("POPDIST_MESSAGE_ALGORITHM", "segmented-ring")}));
}

TEST(BuildJob, FillsEveryFieldOfTheJob) {
  Options options = optionsFor(2);
  options.host_subnet = "10.0.0.0/8";
  options.num_ilds = 2;
  options.binding.mode = model::BindMode::kCompact;
  options.env_families.clear();
  options.tf_tasks.chief = true;
  options.executable_cache_path = "cache";
  options.stdin_policy = {model::StdinPolicy::Who::kOne, 1};
  options.kill_grace = options.timeout = options.restart_delay = std::chrono::seconds(7);
  options.stack_traces = true;
  options.max_restarts = 3;
  options.host = "a,b";
  options.min_hosts = 1;
  options.uneven_replicas = true;
  options.programs.front().working_directory = "/data";
  options.partition = {.name = "p",
                       .server_host = "vipu",
                       .server_port = 80,
                       .server_timeout_seconds = 9,
                       .attempts = 5,
                       .allocation = "a",
                       .update = true,
                       .reset = false,
                       .remove = false,
                       .sync_type = "ST_POD_NATIVE_DEFAULT"};
  const BuiltJob job = built(options);
  EXPECT_THAT(job.mistakes, IsEmpty());
  EXPECT_EQ(job.spec.partition, options.partition);
  EXPECT_EQ(job.spec.host_subnet, options.host_subnet);
  EXPECT_EQ(job.spec.num_ilds, options.num_ilds);
  EXPECT_EQ(job.spec.binding, options.binding);
  EXPECT_EQ(job.spec.env_families, options.env_families);
  EXPECT_EQ(job.spec.tf_tasks, options.tf_tasks);
  EXPECT_EQ(job.spec.executable_cache_path, "cache");
  EXPECT_TRUE(job.spec.make_executable_cache);
  EXPECT_EQ(job.spec.stdin_policy, options.stdin_policy);
  EXPECT_EQ(job.spec.kill_grace, options.kill_grace);
  EXPECT_EQ(job.spec.timeout, options.timeout);
  EXPECT_EQ(job.spec.restart_delay, options.restart_delay);
  EXPECT_TRUE(job.spec.stack_traces);
  EXPECT_EQ(job.spec.max_restarts, 3);
  EXPECT_EQ(job.spec.min_hosts, 1);
  EXPECT_TRUE(job.spec.uneven_replicas);
  EXPECT_EQ(job.spec.programs.front().working_directory, "/data");
}

TEST(BuildJob, InputCanOnlyGoToAnInstanceThatExists) {
  Options options = optionsFor(2);
  options.stdin_policy = {model::StdinPolicy::Who::kOne, 2};
  options.only_stdout_from_instance = 9;
  EXPECT_THAT(mistakesOf(options),
              ElementsAre(HasSubstr("--only-stdout-from-instance 9: there are only instances 0 to 1"),
                          HasSubstr("--stdin 2: there are only instances 0 to 1")));
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

TEST(BuildJob, SaysThatOneInstanceIsTheDefault) {
  Options options = optionsFor(1);
  options.host = "h[1-3]";
  EXPECT_THAT(mistakesOf(options),
              ElementsAre(HasSubstr("--num-instances 1 cannot be divided evenly over 3")));
  options.programs.front().num_instances.reset();
  EXPECT_THAT(mistakesOf(options),
              ElementsAre(HasSubstr("--num-instances 1 (the default is 1) cannot be divided evenly over 3")));
}

}  // namespace
}  // namespace pop
