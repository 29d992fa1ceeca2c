// SPDX-License-Identifier: Apache-2.0
// Arbitrary messages to instance 0 of a cluster, and arbitrary texts in TF_CONFIG: an instance is let in, or
// an error says why not. Seeded, so that a failure comes back.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "common/base/random.h"
#include "libpopdist/collectives/cluster/link/roster.h"
#include "libpopdist/collectives/cluster/tf_config.h"

namespace popdist::cluster {
namespace {

using pop::SplitMix64;
using pop::contract::Frame;

constexpr std::uint64_t kClusterRounds = 20'000;

void mutate(std::string& bytes, SplitMix64& random) {
  for (std::uint64_t times = 1 + random.below(3); times > 0; --times) {
    const std::size_t at = bytes.empty() ? 0 : random.below(bytes.size());
    switch (random.below(4)) {
      case 0:
        if (!bytes.empty()) bytes[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        bytes.erase(at, 1 + random.below(4));
        break;
      case 2:
        bytes.insert(at, 1 + random.below(4), static_cast<char>(random.below(256)));
        break;
      default:
        bytes.insert(at, bytes.substr(at, random.below(40)));
    }
  }
}

Roster roster() {
  return {.workers = {"a:1", "b:2", "[::1]:3"},
          .tasks = {"worker:0", "worker:1", "worker:2"},
          .options = "1 replica of 1 IPU"};
}

TEST(ClusterFuzz, DamagedHellosLetInNobodyElse) {
  for (std::uint64_t round = 0; round < kClusterRounds; ++round) {
    SplitMix64 random(round);
    Frame hello = helloOf(roster(), static_cast<int>(random.below(3)));
    for (std::uint64_t times = random.below(3); times > 0; --times) {
      const std::size_t at = random.below(hello.fields.size());
      if (random.below(4) == 0) {
        hello.fields.erase(hello.fields.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        mutate(hello.fields[at], random);
      }
      if (hello.fields.empty()) break;
    }
    const pop::Result<Member> member = memberOf(roster(), hello);
    if (member.ok()) {
      ASSERT_GE(member.value().instance, 0) << round;
      ASSERT_LT(member.value().instance, 3) << round;
    } else {
      ASSERT_FALSE(member.status().message().empty()) << round;
      ASSERT_LT(member.status().message().size(), 2000U) << round;
    }
  }
}

TEST(ClusterFuzz, DamagedTfConfigIsAClusterOrAnError) {
  const std::string whole = R"({"cluster":{"chief":["c:1"],"worker":["a:1","[::1]:3"],"evaluator":["e:9"]},)"
                            R"("task":{"type":"worker","index":1}})";
  ASSERT_TRUE(parseTfConfig(whole).ok());
  for (std::uint64_t round = 0; round < kClusterRounds; ++round) {
    SplitMix64 random(round);
    std::string text = whole;
    mutate(text, random);
    const pop::Result<train::Cluster> cluster = parseTfConfig(text);
    if (!cluster.ok()) {
      ASSERT_TRUE(cluster.status().message().starts_with("TF_CONFIG: ")) << text;
    } else if (!cluster.value().isEvaluator()) {
      ASSERT_TRUE(checkCluster(cluster.value()).ok()) << text;
      ASSERT_LT(cluster.value().instanceIndex(), cluster.value().size()) << text;
    }
  }
}

}  // namespace
}  // namespace popdist::cluster
