// SPDX-License-Identifier: Apache-2.0
// An instance's surroundings at its start: its variables, directory, descriptors and signals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "tests/testing/poprun_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/test_child.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using Variables = std::map<std::string, std::string>;

// NAME=value lines.
Variables variablesIn(const std::string& text) {
  Variables variables;
  for (const std::string& line : linesOf(text)) {
    const std::size_t equals = line.find('=');
    variables[line.substr(0, equals)] = equals == std::string::npos ? "" : line.substr(equals + 1);
  }
  return variables;
}

Variables environmentOf(int instance, int instances) {
  return variablesIn(run({.options = {"--num-instances", std::to_string(instances), "--num-replicas",
                                      std::to_string(2 * instances), "--ipus-per-replica", "2",
                                      "--only-output-from-instance", std::to_string(instance)},
                          .child = {"print-env"},
                          .environment = {{"SOME_VARIABLE", "of the user"}, {"RANK", "99"}}})
                         .out);
}

TEST(Environment, SaysWhichReplicasAreTheInstances) {
  Variables found = environmentOf(1, 4);
  const Variables expected{
      {"POPDIST_NUM_TOTAL_REPLICAS", "8"},   {"POPDIST_NUM_IPUS_PER_REPLICA", "2"},
      {"POPDIST_NUM_LOCAL_REPLICAS", "2"},   {"POPDIST_UNIFORM_REPLICAS_PER_INSTANCE", "1"},
      {"POPDIST_REPLICA_INDEX_OFFSET", "2"}, {"POPDIST_NUM_INSTANCES", "4"},
      {"POPDIST_INSTANCE_INDEX", "1"},       {"POPDIST_NUM_LOCAL_INSTANCES", "4"},
      {"POPDIST_LOCAL_INSTANCE_INDEX", "1"}, {"POPDIST_SYSTEM", "pod16"},
      {"POPDIST_OFFLINE_MODE", "0"}};
  for (const auto& [name, value] : expected) EXPECT_EQ(found[name], value) << name;
  EXPECT_THAT(found["POPDIST_JOB_ID"], MatchesRegex("[0-9a-f]+"));
  EXPECT_THAT(found["POPDIST_AGENT_SOCKET"], HasSubstr(found["POPDIST_JOB_ID"]));
}

TEST(Environment, SaysThatReplicasAreUneven) {
  const auto replicasOf = [](int instance) {
    Variables found =
        variablesIn(run({.options = {"--num-instances", "2", "--num-replicas", "5", "--uneven-replicas",
                                     "yes", "--only-output-from-instance", std::to_string(instance)},
                         .child = {"print-env"}})
                        .out);
    return found["POPDIST_INSTANCE_INDEX"] + ": " + found["POPDIST_NUM_LOCAL_REPLICAS"] + " from " +
           found["POPDIST_REPLICA_INDEX_OFFSET"] + ", uniform " +
           found["POPDIST_UNIFORM_REPLICAS_PER_INSTANCE"];
  };
  EXPECT_EQ(replicasOf(0), "0: 3 from 0, uniform 0");
  EXPECT_EQ(replicasOf(1), "1: 2 from 3, uniform 0");
}

TEST(Environment, SpeaksToOtherFrameworks) {
  Variables found = environmentOf(3, 4);
  const Variables expected{{"RANK", "3"},
                           {"WORLD_SIZE", "4"},
                           {"LOCAL_RANK", "3"},
                           {"LOCAL_WORLD_SIZE", "4"},
                           {"MASTER_ADDR", "127.0.0.1"}};
  for (const auto& [name, value] : expected) EXPECT_EQ(found[name], value) << name;
  EXPECT_GT(std::stoi(found["MASTER_PORT"]), 1023);
  EXPECT_THAT(
      found["TF_CONFIG"],
      MatchesRegex("\\{\"cluster\":\\{\"worker\":\\[\"127.0.0.1:[0-9]+\"(,\"127.0.0.1:[0-9]+\")+\\]\\},"
                   "\"task\":\\{\"type\":\"worker\",\"index\":3\\}\\}"));
}

TEST(Environment, KeepsTheUsersVariables) {
  EXPECT_EQ(environmentOf(0, 2)["SOME_VARIABLE"], "of the user");
}

Variables foundWith(const std::vector<std::string>& options, const std::map<std::string, std::string>& own) {
  const Outcome result = run({.options = options, .child = {"print-env"}, .environment = own});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return variablesIn(result.out);
}

TEST(Environment, LeavesVariablesOfUnwantedFamiliesAsTheyAre) {
  const std::map<std::string, std::string> own{{"RANK", "99"}, {"TF_CONFIG", "{}"}, {"SLURM_PROCID", "7"}};
  Variables found = foundWith({"--env-for", "jax"}, own);
  EXPECT_EQ(found["RANK"], "99");
  EXPECT_EQ(found["TF_CONFIG"], "{}");
  EXPECT_EQ(found["SLURM_PROCID"], "7");
  EXPECT_EQ(found["JAX_PROCESS_ID"], "0");
  EXPECT_EQ(found.count("HOROVOD_RANK"), 0U);
  EXPECT_EQ(found["POPDIST_NUM_INSTANCES"], "1") << "always set";
}

TEST(Environment, SaysHowCollectivesAreToGo) {
  const std::vector<std::string> options{"--collectives", "tcp,ring", "-x", "POPDIST_TRANSPORT=auto"};
  Variables found = foundWith(options, {{"POPDIST_MESSAGE_ALGORITHM", "inherited"}});
  EXPECT_EQ(found["POPDIST_MESSAGE_ALGORITHM"], "ring");
  EXPECT_EQ(found["POPDIST_TRANSPORT"], "auto");
  EXPECT_EQ(found.count("POPDIST_SHARED_ALGORITHM"), 0U);
}

TEST(Environment, LetsTheUserWinOverEverything) {
  Variables found =
      foundWith({"-x", "RANK=mine", "-x", "POPDIST_SYSTEM=pod64", "-x", "NEW=a=b", "-x", "EMPTY="},
                {{"RANK", "99"}, {"EMPTY", "full"}});
  EXPECT_EQ(found["RANK"], "mine");
  EXPECT_EQ(found["POPDIST_SYSTEM"], "pod64");
  EXPECT_EQ(found["NEW"], "a=b");
  EXPECT_EQ(found["EMPTY"], "");
}

TEST(Environment, OffersADirectoryThatGoesWithTheJob) {
  const Arguments script{"sh", "-c",
                         "mkdir -p $POPDIST_EXECUTABLE_CACHE_PATH && touch "
                         "$POPDIST_EXECUTABLE_CACHE_PATH/$RANK && echo $POPDIST_EXECUTABLE_CACHE_PATH"};
  PoprunProcess poprun(
      {.options = {"--num-instances", "2", "--tag-output", "no", script[0], script[1], script[2]}});
  EXPECT_EQ(poprun.wait(), 0);
  const std::vector<std::string> paths = linesOf(poprun.out());
  ASSERT_EQ(paths.size(), 2U);
  EXPECT_EQ(paths[0], paths[1]);
  EXPECT_EQ(paths[0].rfind(poprun.scratch() + '/', 0), 0U) << paths[0];
  EXPECT_FALSE(std::filesystem::exists(paths[0]));
}

TEST(Environment, LeavesTheUsersOwnCacheDirectoryAlone) {
  const TempDir own;
  const Outcome result =
      run({.child = {"print-env"}, .environment = {{"POPDIST_EXECUTABLE_CACHE_PATH", own.path()}}});
  EXPECT_EQ(variablesIn(result.out)["POPDIST_EXECUTABLE_CACHE_PATH"], own.path());
  EXPECT_TRUE(std::filesystem::exists(own.path()));
}

Variables reportOf(PoprunSetup setup) {
  setup.child = {"report"};
  const Outcome result = run(setup);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return variablesIn(result.out);
}

TEST(Instance, RunsInPoprunsDirectory) {
  EXPECT_EQ(reportOf({.directory = "/usr/lib"})["directory"], "/usr/lib");
}

TEST(Instance, InheritsItsThreeStreamsAndItsConnectionForPmi) {
  Variables found = reportOf({.open_fd = 17});
  EXPECT_EQ(found["fds"], "0,1,2,20");
  EXPECT_EQ(found["stdin"], "/dev/null");
  EXPECT_EQ(reportOf({.options = {"--env-for", "none"}, .open_fd = 17})["fds"], "0,1,2");
}

TEST(Instance, StartsWithNoSignalBlockedOrIgnored) {
  Variables found = reportOf({.ignored_signals = {SIGHUP, SIGINT, SIGUSR1, SIGCHLD}});
  EXPECT_EQ(found["blocked"], "0000000000000000");
  EXPECT_EQ(found["ignored"], "0000000000000000");
}

TEST(Instance, LeadsAProcessGroupOfItsOwn) {
  EXPECT_EQ(reportOf({})["leads_group"], "1");
}

TEST(Instance, HasTheDescriptorLimitThatPoprunWasStartedWith) {
  EXPECT_EQ(reportOf({.descriptor_limit = 321})["descriptor_limit"], "321");
}

TEST(Instance, GetsLongArguments) {
  const std::string argument(120000, 'x');
  Arguments command{"/usr/bin/printf", "%s"};
  for (int i = 0; i < 8; ++i) command.push_back(argument);
  const Outcome result = run({.options = command});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out.size(), 8 * argument.size());
}

}  // namespace
}  // namespace pop::testing
