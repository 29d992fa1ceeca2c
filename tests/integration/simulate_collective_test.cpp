// SPDX-License-Identifier: Apache-2.0
// `poprun simulate --collective`: across replicas, in groups, and within replicas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/base/json_reader.h"
#include "tests/testing/poprun_process.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Outcome simulated(std::vector<std::string> options) {
  options.insert(options.begin(), "simulate");
  return run({.options = options});
}

// The ways on the one system of these options.
JsonValue simulatedOnOne(std::vector<std::string> options) {
  options.emplace_back("--json");
  const Outcome outcome = simulated(options);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const JsonValue report = parseJson(outcome.out).value();
  return report.find("systems")->array()->front();
}

double numberOf(const JsonValue& object, const std::string& key) {
  return object.find(key)->number().value();
}

TEST(SimulateCollective, EachHasItsWaysAndABoundThatNoneBeats) {
  for (const char* const each : {"reduce-scatter", "all-gather", "all-to-all", "broadcast"}) {
    for (const char* const group : {"16", "4:4", "2"}) {
      const JsonValue system = simulatedOnOne(
          {"--collective", std::string(each) + "=4MiB", "--system", "pod16", "--group", group});
      EXPECT_EQ(*system.find("collective")->text(), each);
      const auto* ways = system.find("algorithms")->array();
      ASSERT_GE(ways->size(), 2U) << each;
      for (const JsonValue& way : *ways)
        EXPECT_GE(numberOf(way, "seconds"), numberOf(system, "bound_seconds"));
    }
  }
}

TEST(SimulateCollective, WithinReplicasIsThatOfGroupsOfSingleIpus) {
  for (const char* const each : {"all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast"}) {
    const std::string collective = std::string(each) + "=4MiB";
    const auto systemOf = [&](std::vector<std::string> options) {
      options.insert(options.end(), {"--collective", collective, "--system", "pod64"});
      return simulatedOnOne(options);
    };
    const JsonValue within = systemOf({"--within-replica", "--ipus-per-replica", "4"});
    const JsonValue groups = systemOf({"--group", "4"});
    EXPECT_EQ(numberOf(within, "replicas"), 16);
    EXPECT_EQ(numberOf(within, "bound_seconds"), numberOf(groups, "bound_seconds"));
    const auto* ways = within.find("algorithms")->array();
    const auto* others = groups.find("algorithms")->array();
    ASSERT_EQ(ways->size(), others->size()) << each;
    for (std::size_t at = 0; at < ways->size(); ++at) {
      EXPECT_EQ(numberOf((*ways)[at], "seconds"), numberOf((*others)[at], "seconds"));
      EXPECT_GE(numberOf((*ways)[at], "seconds"), numberOf(within, "bound_seconds"));
    }
  }
}

TEST(SimulateCollective, ShowsTheStepsWithinReplicas) {
  std::vector<std::string> options{"--collective=all-gather=1KB", "--system=pod4", "--within-replica",
                                   "--ipus-per-replica=2"};
  EXPECT_THAT(simulated(options).out,
              StartsWith("## All-gather of 1.0 kB within replicas on pod4, 2 replicas of 2 IPUs"));
  options.insert(options.end(), {"--show-steps", "--algorithm=gcl"});
  EXPECT_EQ(simulated(options).out,
            "# clockwise_ring: 4 IPUs, 2 blocks, 1 round\n"
            "replica 0: IPU 0-1\nreplica 1: IPU 2-3\n"
            "\nround 0, all-gather\n0 -> 1: block 0\n1 -> 0: block 1\n2 -> 3: block 0\n3 -> 2: block 1\n");
  options.emplace_back("--group=4");
  EXPECT_THAT(simulated(options).err,
              HasSubstr("--group: on pod4, groups of 4 IPUs do not divide the replica's 2 IPUs"));
}

TEST(SimulateCollective, ShowsTheStepsOfGroups) {
  const Outcome result = simulated(
      {"--collective=all-to-all=1KB", "--system=pod4", "--group=2:2", "--show-steps", "--algorithm=direct"});
  EXPECT_THAT(result.out, HasSubstr("0 -> 2: block 1\n1 -> 3: block 1\n2 -> 0: block 0\n3 -> 1: block 0\n"));
}

}  // namespace
}  // namespace pop::testing
