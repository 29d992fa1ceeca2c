// SPDX-License-Identifier: Apache-2.0
// Damaged environments: libpopdist reads variables that others may have changed. From any texts, the reader
// gives numbers that hold together, or an error that names a variable. Seeded, so that a failure comes back.
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "common/base/json.h"
#include "tests/unit/common/contract/env_samples.h"

namespace pop::contract {
namespace {

constexpr std::uint64_t kEnvRounds = 50'000;

// Texts at the edges of what numbers and booleans may be.
std::string nastyValue(SplitMix64& random) {
  static constexpr std::array<std::string_view, 22> kNasty{"",
                                                           "0",
                                                           "1",
                                                           "2",
                                                           "-1",
                                                           "+1",
                                                           "007",
                                                           "2147483647",
                                                           "2147483648",
                                                           "-2147483648",
                                                           "4294967297",
                                                           "9223372036854775807",
                                                           "9223372036854775808",
                                                           "1e3",
                                                           "0x1",
                                                           " 1",
                                                           "1 ",
                                                           "1\n",
                                                           "true",
                                                           "off",
                                                           "\xff",
                                                           "NaN"};
  if (random.below(4) != 0) return std::string(kNasty.at(random.below(kNasty.size())));
  std::string noise(random.below(12), '\0');
  for (char& byte : noise) byte = static_cast<char>(1 + random.below(255));
  return noise;
}

void damage(Environment& environment, SplitMix64& random) {
  for (std::uint64_t times = random.below(6); times > 0; --times) {
    auto variable = environment.begin();
    std::advance(variable, static_cast<std::ptrdiff_t>(random.below(environment.size())));
    if (random.below(3) == 0) {
      environment.erase(variable);
      if (environment.empty()) return;
    } else {
      variable->second = nastyValue(random);
    }
  }
}

void expectSound(const InstanceEnv& env) {
  ASSERT_GE(env.num_total_replicas, 1);
  ASSERT_GE(env.num_ipus_per_replica, 1);
  ASSERT_GE(env.num_local_replicas, 1);
  ASSERT_GE(env.replica_index_offset, 0);
  ASSERT_LE(std::int64_t{env.replica_index_offset} + env.num_local_replicas, env.num_total_replicas);
  ASSERT_GE(env.instance_index, 0);
  ASSERT_LT(env.instance_index, env.num_instances);
  ASSERT_GE(env.local_instance_index, 0);
  ASSERT_LT(env.local_instance_index, env.num_local_instances);
  ASSERT_GE(env.restart_count, 0);
}

TEST(EnvironmentFuzz, DamagedVariablesGiveSoundNumbersOrAnErrorThatNamesOne) {
  int refused = 0;
  for (std::uint64_t round = 0; round < kEnvRounds; ++round) {
    SplitMix64 random(round);
    Environment environment = toEnvironment(render(randomInstanceEnv(random)));
    damage(environment, random);
    const Result<InstanceEnv> env = parse(lookupIn(environment));
    if (env.ok()) {
      expectSound(env.value());
    } else {
      ++refused;
      ASSERT_EQ(env.code(), Code::kInvalidArgument) << "round " << round;
      ASSERT_NE(env.status().message().find("POPDIST_"), std::string::npos) << env.status().message();
    }
    ASSERT_FALSE(::testing::Test::HasFailure()) << "round " << round;
  }
  EXPECT_GT(refused, static_cast<int>(kEnvRounds / 10)) << "the damage is too small to tell anything";
  EXPECT_LT(refused, static_cast<int>(kEnvRounds * 9 / 10));
}

TEST(JsonFuzz, MergingTakesAnyTextAndKeepsToObjects) {
  static constexpr std::string_view kCharacters = "{}[]\":,\\ a1\n\xff";
  for (std::uint64_t round = 0; round < kEnvRounds; ++round) {
    SplitMix64 random(round);
    std::string text(random.below(16), '\0');
    for (char& byte : text) byte = kCharacters[random.below(kCharacters.size())];
    const std::string merged = mergedJsonObjects(R"({"k":"v"})", text);
    ASSERT_TRUE(merged == text || merged.starts_with(R"({"k":)")) << "round " << round << ": " << merged;
    ASSERT_EQ(mergedJsonObjects("{}", merged) == merged, true) << "round " << round << ": " << merged;
  }
}

}  // namespace
}  // namespace pop::contract
