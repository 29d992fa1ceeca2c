// SPDX-License-Identifier: Apache-2.0
// The CPUs that instances are bound to, and the number of OpenMP's threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "agent/core/hooks.h"

namespace pop::agent {
namespace {

const InstanceOrder kOrder{.binding = {.cpus = model::CpuSet({4, 5, 6}), .threads = 3}};

JobSlice slice() {
  return {.programs = {{.command = {"./train"}}}, .env_families = contract::allEnvFamilies()};
}

std::optional<std::string> threadsOf(const JobSlice& slice, const VariableNames& inherited = {}) {
  SpawnRequest request;
  EXPECT_TRUE(threadsHook({slice, kOrder, inherited}, request).ok());
  for (const auto& [name, value] : request.environment) {
    if (name == "OMP_NUM_THREADS") return value;
  }
  return std::nullopt;
}

TEST(BindHook, PassesTheBindingOn) {
  const Result<SpawnRequest> request = prepareSpawn({slice(), kOrder});
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request.value().binding, kOrder.binding);
}

TEST(ThreadsHook, SaysHowManyCpusTheInstanceHas) {
  EXPECT_EQ(threadsOf(slice()), "3");
  EXPECT_EQ(threadsOf(slice(), {"OMP_PROC_BIND"}), "3");
}

TEST(ThreadsHook, LeavesItToTheUser) {
  EXPECT_EQ(threadsOf(slice(), {"OMP_NUM_THREADS"}), std::nullopt);
  JobSlice for_all = slice();
  for_all.environment = {{"OMP_NUM_THREADS", "7"}};
  EXPECT_EQ(threadsOf(for_all), std::nullopt);
  JobSlice for_program = slice();
  for_program.programs.front().environment = {{"OMP_NUM_THREADS", "7"}};
  EXPECT_EQ(threadsOf(for_program), std::nullopt);
}

TEST(ThreadsHook, SetsNothingWhenOpenMpIsNotAskedFor) {
  JobSlice other = slice();
  other.env_families = {contract::EnvFamily::kPyTorch};
  EXPECT_EQ(threadsOf(other), std::nullopt);
}

}  // namespace
}  // namespace pop::agent
