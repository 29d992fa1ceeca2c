// SPDX-License-Identifier: Apache-2.0
// What an instance finds in its environment, variable by variable.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/contract/env_samples.h"

namespace pop::contract {
namespace {

using ::testing::HasSubstr;

// Instance 3 of 4, the second on the second of two hosts, with replicas 6 and 7 of 8.
InstanceEnv lastOfFour() {
  return {.num_total_replicas = 8,
          .num_ipus_per_replica = 2,
          .num_local_replicas = 2,
          .uniform_replicas = true,
          .replica_index_offset = 6,
          .num_instances = 4,
          .instance_index = 3,
          .num_local_instances = 2,
          .local_instance_index = 1,
          .job_id = "4f2a",
          .agent_socket = "popdist-4f2a",
          .executable_cache_path = "/var/cache/exe",
          .system = "pod16",
          .offline = true};
}

Environment rendered(const InstanceEnv& env, const Rendezvous& rendezvous = twoWorkers()) {
  Result<std::vector<Variable>> variables = render(env, rendezvous);
  EXPECT_TRUE(variables.ok()) << variables.status().message();
  return variables.ok() ? toEnvironment(variables.value()) : Environment();
}

Rendezvous manyWorkers(int count) {
  Rendezvous rendezvous{.master_address = "192.168.100.100", .master_port = 10000};
  for (int worker = 0; worker < count; ++worker) rendezvous.workers.emplace_back("192.168.100.100:10000");
  return rendezvous;
}

TEST(RenderEnvironment, SetsWhatPopRunSetsPerInstance) {
  const Environment environment = rendered(lastOfFour());
  EXPECT_EQ(environment.at("POPDIST_NUM_TOTAL_REPLICAS"), "8");
  EXPECT_EQ(environment.at("POPDIST_NUM_IPUS_PER_REPLICA"), "2");
  EXPECT_EQ(environment.at("POPDIST_NUM_LOCAL_REPLICAS"), "2");
  EXPECT_EQ(environment.at("POPDIST_UNIFORM_REPLICAS_PER_INSTANCE"), "1");
  EXPECT_EQ(environment.at("POPDIST_REPLICA_INDEX_OFFSET"), "6");
  EXPECT_EQ(environment.at("POPDIST_LOCAL_INSTANCE_INDEX"), "1");
  EXPECT_EQ(environment.at("POPDIST_EXECUTABLE_CACHE_PATH"), "/var/cache/exe");
}

TEST(RenderEnvironment, SetsWhatOnlyLibpopdistNeeds) {
  const Environment environment = rendered(lastOfFour());
  EXPECT_EQ(environment.at("POPDIST_NUM_INSTANCES"), "4");
  EXPECT_EQ(environment.at("POPDIST_INSTANCE_INDEX"), "3");
  EXPECT_EQ(environment.at("POPDIST_NUM_LOCAL_INSTANCES"), "2");
  EXPECT_EQ(environment.at("POPDIST_JOB_ID"), "4f2a");
  EXPECT_EQ(environment.at("POPDIST_AGENT_SOCKET"), "popdist-4f2a");
  EXPECT_EQ(environment.at("POPDIST_SYSTEM"), "pod16");
  EXPECT_EQ(environment.at("POPDIST_OFFLINE_MODE"), "1");
}

TEST(RenderEnvironment, SpeaksToPyTorch) {
  const Environment environment = rendered(lastOfFour());
  EXPECT_EQ(environment.at("RANK"), "3");
  EXPECT_EQ(environment.at("WORLD_SIZE"), "4");
  EXPECT_EQ(environment.at("LOCAL_RANK"), "1");
  EXPECT_EQ(environment.at("LOCAL_WORLD_SIZE"), "2");
  EXPECT_EQ(environment.at("MASTER_ADDR"), "10.0.0.1");
  EXPECT_EQ(environment.at("MASTER_PORT"), "10003");
}

TEST(RenderEnvironment, SpeaksToTensorFlow) {
  EXPECT_EQ(
      rendered({.num_total_replicas = 2, .replica_index_offset = 1, .num_instances = 2, .instance_index = 1})
          .at("TF_CONFIG"),
      R"({"cluster":{"worker":["10.0.0.1:10001","10.0.0.2:10002"]},"task":{"type":"worker","index":1}})");
  EXPECT_EQ(rendered({}, {.workers = {"127.0.0.1:10000"}}).at("TF_CONFIG"),
            R"({"cluster":{"worker":["127.0.0.1:10000"]},"task":{"type":"worker","index":0}})");
}

TEST(RenderEnvironment, NamesNoVariableTwice) {
  const std::vector<Variable> variables = render(lastOfFour(), twoWorkers()).value();
  EXPECT_EQ(toEnvironment(variables).size(), variables.size());
}

TEST(RenderEnvironment, SetsEmptyTextsTooSoThatTheyHideInheritedOnes) {
  const Environment environment = rendered({});
  for (const char* name :
       {"POPDIST_JOB_ID", "POPDIST_AGENT_SOCKET", "POPDIST_EXECUTABLE_CACHE_PATH", "POPDIST_SYSTEM"}) {
    EXPECT_EQ(environment.at(name), "") << name;
  }
  EXPECT_EQ(environment.at("POPDIST_OFFLINE_MODE"), "0");
}

TEST(RenderEnvironment, RefusesAVariableThatTheKernelWouldNotPassOn) {
  const Result<std::vector<Variable>> variables = render({.num_instances = 6000}, manyWorkers(6000));
  ASSERT_FALSE(variables.ok());
  EXPECT_EQ(variables.code(), Code::kResourceExhausted);
  EXPECT_THAT(variables.status().message(), HasSubstr("TF_CONFIG for 6000 instances needs 144"));
  EXPECT_THAT(variables.status().message(), HasSubstr("128 KiB"));
  EXPECT_THAT(variables.status().message(), HasSubstr("use fewer instances"));
}

TEST(RenderEnvironment, TakesAVariableOfExactlyTheKernelsLimit) {
  // Linux counts "NAME=value" and its final zero, and takes 32 pages of it.
  constexpr std::size_t kLimitBytes = 131072;
  const std::size_t most = kLimitBytes - std::string("POPDIST_SYSTEM=").size() - 1;
  EXPECT_TRUE(render({.system = std::string(most, 'x')}, {}).ok());
  EXPECT_EQ(render({.system = std::string(most + 1, 'x')}, {}).code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace pop::contract
