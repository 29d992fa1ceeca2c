// SPDX-License-Identifier: Apache-2.0
// What a process of poprun is in its cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/base/text.h"
#include "popdist/cluster_resolver.hpp"
#include "tests/unit/libpopdist/collectives/context/fresh_process.h"

namespace popdist::train {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string resolved() {
  const Cluster cluster = resolveCluster();
  return std::string(nameOf(cluster.type)) + ':' + std::to_string(cluster.index) + " of " +
         std::to_string(cluster.size()) + " [" + pop::join(cluster.workers, " ") + ']';
}

popdist::Variables instance(int index, const std::string& tf_config = "") {
  popdist::Variables variables{{"POPDIST_NUM_TOTAL_REPLICAS", "3"},
                               {"POPDIST_NUM_INSTANCES", "3"},
                               {"POPDIST_INSTANCE_INDEX", std::to_string(index)},
                               {"POPDIST_REPLICA_INDEX_OFFSET", std::to_string(index)}};
  variables["TF_CONFIG"] = tf_config;
  return variables;
}

constexpr const char* kJobs = R"({"cluster":{"chief":["a:1"],"worker":["b:1"]},"task":{"type":)";

TEST(PoprunResolver, TakesTheInstanceFromPoprun) {
  EXPECT_EQ(inFreshProcess(instance(1), resolved), "worker:1 of 3 [  ]");
}

TEST(PoprunResolver, NamesAreThoseOfItsTfConfig) {
  EXPECT_EQ(inFreshProcess(instance(1, std::string(kJobs) + R"("worker","index":0}})"), resolved),
            "worker:0 of 2 [a:1 b:1]");
  EXPECT_EQ(inFreshProcess(instance(2, std::string(kJobs) + R"("evaluator","index":0}})"), resolved),
            "evaluator:0 of 2 [a:1 b:1]");
}

TEST(PoprunResolver, TfConfigOfAnotherInstanceIsNotPopruns) {
  EXPECT_EQ(inFreshProcess(instance(2, std::string(kJobs) + R"("worker","index":0}})"), resolved),
            "worker:2 of 3 [  ]");
}

TEST(PoprunResolver, ResolverBesidePoprunIsRefused) {
  const auto with = [](const ClusterResolver& resolver) {
    return inFreshProcess(instance(0), [&] { return std::to_string(resolveCluster(&resolver).size()); });
  };
  EXPECT_EQ(with(PoprunResolver()), "3");
  EXPECT_THAT(with(SimpleResolver({"a:1"}, 0)), StartsWith("error 9: resolveCluster: "));
}

}  // namespace
}  // namespace popdist::train
