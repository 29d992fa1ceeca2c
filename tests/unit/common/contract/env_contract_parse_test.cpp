// SPDX-License-Identifier: Apache-2.0
// Environments as libpopdist reads them: ours, PopRun's, none at all, and damaged ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/common/contract/env_samples.h"

namespace pop::contract {
namespace {

using ::testing::HasSubstr;

// Instance 1 of 2, each with 2 of the 4 replicas, as poprun sets it.
Environment validEnvironment() {
  return toEnvironment(render({.num_total_replicas = 4,
                               .num_local_replicas = 2,
                               .replica_index_offset = 2,
                               .num_instances = 2,
                               .instance_index = 1,
                               .num_local_instances = 2,
                               .local_instance_index = 1}));
}

Status parsedWith(const char* name, const std::string& value) {
  Environment environment = validEnvironment();
  environment[name] = value;
  return parse(lookupIn(environment)).status();
}

TEST(ParseEnvironment, GivesBackWhatRenderWrote) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SplitMix64 random(seed);
    const InstanceEnv env = randomInstanceEnv(random);
    const Environment environment = toEnvironment(render(env));
    ASSERT_TRUE(isSet(lookupIn(environment)));
    const Result<InstanceEnv> parsed = parse(lookupIn(environment));
    ASSERT_TRUE(parsed.ok()) << "seed " << seed << ": " << parsed.status().message();
    ASSERT_EQ(parsed.value(), env) << "seed " << seed;
  }
}

TEST(ParseEnvironment, WithoutPopRunIsOneInstanceWithOneReplica) {
  const Environment nothing;
  EXPECT_FALSE(isSet(lookupIn(nothing)));
  EXPECT_EQ(parse(lookupIn(nothing)).value(), InstanceEnv());
}

TEST(ParseEnvironment, DeducesTheInstancesFromWhatPopRunSets) {
  const Environment environment{
      {"POPDIST_NUM_TOTAL_REPLICAS", "16"},   {"POPDIST_NUM_IPUS_PER_REPLICA", "4"},
      {"POPDIST_NUM_LOCAL_REPLICAS", "2"},    {"POPDIST_UNIFORM_REPLICAS_PER_INSTANCE", "1"},
      {"POPDIST_REPLICA_INDEX_OFFSET", "10"}, {"POPDIST_LOCAL_INSTANCE_INDEX", "1"}};
  EXPECT_TRUE(isSet(lookupIn(environment)));
  const Result<InstanceEnv> env = parse(lookupIn(environment));
  ASSERT_TRUE(env.ok()) << env.status().message();
  EXPECT_EQ(env.value().num_instances, 8);
  EXPECT_EQ(env.value().instance_index, 5);
  EXPECT_EQ(env.value().local_instance_index, 1);
  EXPECT_EQ(env.value().num_local_instances, 2) << "the least that holds this instance";
  EXPECT_EQ(env.value().num_ipus_per_replica, 4);
  EXPECT_EQ(env.value().agent_socket, "") << "there is no agent under PopRun";
}

TEST(ParseEnvironment, TakesTheIndexFromPopRunsOwnLogLine) {
  const Environment environment{
      {"POPDIST_NUM_TOTAL_REPLICAS", "16"},  {"POPDIST_NUM_IPUS_PER_REPLICA", "4"},
      {"POPDIST_NUM_LOCAL_REPLICAS", "16"},  {"POPDIST_UNIFORM_REPLICAS_PER_INSTANCE", "1"},
      {"POPDIST_REPLICA_INDEX_OFFSET", "0"}, {"POPDIST_LOCAL_INSTANCE_INDEX", "0"}};
  const InstanceEnv env = parse(lookupIn(environment)).value();
  EXPECT_EQ(env.num_instances, 1);
  EXPECT_EQ(env.instance_index, 0);
}

TEST(ParseEnvironment, TakesBooleansInAllSpellings) {
  Environment environment = validEnvironment();
  environment["POPDIST_UNIFORM_REPLICAS_PER_INSTANCE"] = "True";
  environment["POPDIST_OFFLINE_MODE"] = "on";
  EXPECT_TRUE(parse(lookupIn(environment)).value().uniform_replicas);
  EXPECT_TRUE(parse(lookupIn(environment)).value().offline);
}

class DamagedNumber : public ::testing::TestWithParam<const char*> {};

TEST_P(DamagedNumber, IsAnErrorThatNamesTheVariable) {
  for (const char* value : {"", "two", "-1", "2x", " 2", "2147483648", "99999999999999999999"}) {
    const Status status = parsedWith(GetParam(), value);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << value;
    EXPECT_THAT(status.message(), HasSubstr(std::string(GetParam()) + "='" + value + "'"));
  }
}

INSTANTIATE_TEST_SUITE_P(OfEachVariable, DamagedNumber,
                         ::testing::Values("POPDIST_NUM_TOTAL_REPLICAS", "POPDIST_NUM_IPUS_PER_REPLICA",
                                           "POPDIST_NUM_LOCAL_REPLICAS", "POPDIST_REPLICA_INDEX_OFFSET",
                                           "POPDIST_NUM_INSTANCES", "POPDIST_INSTANCE_INDEX",
                                           "POPDIST_NUM_LOCAL_INSTANCES", "POPDIST_LOCAL_INSTANCE_INDEX",
                                           "POPDIST_RESTART_COUNT"));

TEST(ParseEnvironment, RefusesCountsOfZero) {
  for (const char* name :
       {"POPDIST_NUM_TOTAL_REPLICAS", "POPDIST_NUM_IPUS_PER_REPLICA", "POPDIST_NUM_LOCAL_REPLICAS",
        "POPDIST_NUM_INSTANCES", "POPDIST_NUM_LOCAL_INSTANCES"}) {
    EXPECT_THAT(parsedWith(name, "0").message(), HasSubstr(std::string(name) + "='0'"));
  }
}

TEST(ParseEnvironment, RefusesDamagedBooleansByName) {
  for (const char* name : {"POPDIST_UNIFORM_REPLICAS_PER_INSTANCE", "POPDIST_OFFLINE_MODE"}) {
    const Status status = parsedWith(name, "perhaps");
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(std::string(name) + ": 'perhaps' is not a boolean"));
  }
}

TEST(ParseEnvironment, RefusesNumbersThatContradictEachOther) {
  EXPECT_THAT(parsedWith("POPDIST_INSTANCE_INDEX", "2").message(),
              HasSubstr("POPDIST_INSTANCE_INDEX=2 is not below POPDIST_NUM_INSTANCES=2"));
  EXPECT_THAT(parsedWith("POPDIST_LOCAL_INSTANCE_INDEX", "2").message(),
              HasSubstr("POPDIST_LOCAL_INSTANCE_INDEX=2 is not below POPDIST_NUM_LOCAL_INSTANCES=2"));
  EXPECT_THAT(parsedWith("POPDIST_REPLICA_INDEX_OFFSET", "3").message(),
              HasSubstr("POPDIST_NUM_TOTAL_REPLICAS=4"));
  EXPECT_EQ(parsedWith("POPDIST_NUM_LOCAL_REPLICAS", "3").code(), Code::kInvalidArgument);
  EXPECT_THAT(
      parsedWith("POPDIST_NUM_INSTANCES", "5").message(),
      HasSubstr("POPDIST_NUM_INSTANCES=5 with 2 replicas each (POPDIST_UNIFORM_REPLICAS_PER_INSTANCE) are "
                "not POPDIST_NUM_TOTAL_REPLICAS=4"));
}

TEST(ParseEnvironment, RefusesALocalIndexBehindWhichNoNumberCanLie) {
  const Environment environment{{"POPDIST_NUM_TOTAL_REPLICAS", "1"},
                                {"POPDIST_LOCAL_INSTANCE_INDEX", "2147483647"}};
  EXPECT_THAT(parse(lookupIn(environment)).status().message(),
              HasSubstr("POPDIST_LOCAL_INSTANCE_INDEX=2147483647 is not below"));
}

TEST(ParseEnvironment, BlamesTheVariablesThatAreSetNotTheDeducedOnes) {
  const Environment too_many{{"POPDIST_NUM_TOTAL_REPLICAS", "2"}, {"POPDIST_NUM_LOCAL_REPLICAS", "4"}};
  const Environment too_far{{"POPDIST_NUM_TOTAL_REPLICAS", "2"}, {"POPDIST_REPLICA_INDEX_OFFSET", "2"}};
  for (const Environment& environment : {too_many, too_far}) {
    const Result<InstanceEnv> env = parse(lookupIn(environment));
    ASSERT_FALSE(env.ok());
    EXPECT_EQ(env.code(), Code::kInvalidArgument);
    EXPECT_THAT(env.status().message(), HasSubstr("POPDIST_NUM_TOTAL_REPLICAS=2"));
  }
}

}  // namespace
}  // namespace pop::contract
