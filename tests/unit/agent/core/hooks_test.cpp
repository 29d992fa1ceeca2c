// SPDX-License-Identifier: Apache-2.0
#include "agent/core/hooks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace pop::agent {
namespace {

using ::testing::_;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

TEST(PrepareSpawn, PutsTheWholeStartIntoData) {
  const contract::InstanceEnv env{.num_total_replicas = 2,
                                  .replica_index_offset = 1,
                                  .num_instances = 2,
                                  .instance_index = 1,
                                  .agent_socket = "popdist-4f2a"};
  const JobSlice slice{
      .programs = {{.command = {"./train", "--data", "a b"}, .working_directory = "/home/user"}},
      .rendezvous = {.tf_cluster = "{}", .master_address = "w", .master_port = "3"},
      .env_families = {contract::EnvFamily::kPyTorch}};
  const Result<SpawnRequest> request = prepareSpawn({slice, {.env = env}});
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request.value().instance, 1);
  EXPECT_THAT(request.value().argv, ElementsAre("./train", "--data", "a b"));
  EXPECT_EQ(request.value().working_directory, "/home/user");
  EXPECT_THAT(request.value().environment,
              Contains(contract::Variable("POPDIST_AGENT_SOCKET", "popdist-4f2a")));
  EXPECT_THAT(request.value().environment, Contains(contract::Variable("MASTER_PORT", "3")));
  EXPECT_THAT(request.value().environment, Not(Contains(Pair("TF_CONFIG", _)))) << "not a wanted family";
}

TEST(PrepareSpawn, PutsTheUsersVariablesOverOursTheProgramsLast) {
  const JobSlice slice{
      .programs = {{.command = {"./train"}, .environment = {{"RANK", "of the program"}, {"C", "3"}}}},
      .env_families = {contract::EnvFamily::kPyTorch},
      .environment = {{"RANK", "of the job"}, {"WORLD_SIZE", "of the job"}, {"B", "2"}}};
  const Result<SpawnRequest> request = prepareSpawn({slice, {}});
  ASSERT_TRUE(request.ok());
  for (const auto& [name, value] : std::vector<contract::Variable>{
           {"RANK", "of the program"}, {"WORLD_SIZE", "of the job"}, {"B", "2"}, {"C", "3"}}) {
    EXPECT_THAT(request.value().environment, Contains(contract::Variable(name, value)));
  }
}

TEST(PrepareSpawn, PassesOnWhatAHookRefuses) {
  const contract::InstanceEnv env{.executable_cache_path = std::string(128 * 1024, 'x')};
  const Result<SpawnRequest> request = prepareSpawn({{.programs = {{.command = {"./train"}}}}, {.env = env}});
  ASSERT_FALSE(request.ok());
  EXPECT_EQ(request.code(), Code::kResourceExhausted);
  EXPECT_THAT(request.status().message(), HasSubstr("POPDIST_EXECUTABLE_CACHE_PATH"));
}

}  // namespace
}  // namespace pop::agent
