// SPDX-License-Identifier: Apache-2.0
// PopDist's variables in an instance's environment, one by one.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/common/contract/env_samples.h"

namespace pop::contract {
namespace {

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
          .offline = true,
          .restart_count = 2};
}

Environment rendered(const InstanceEnv& env) {
  return toEnvironment(render(env));
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
  EXPECT_EQ(environment.at("POPDIST_RESTART_COUNT"), "2");
}

TEST(RenderEnvironment, NamesNoVariableTwice) {
  const std::vector<Variable> variables = render(lastOfFour());
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

}  // namespace
}  // namespace pop::contract
