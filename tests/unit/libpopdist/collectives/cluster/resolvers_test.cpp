// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "popdist/cluster_resolver.hpp"
#include "tests/testing/error_code_of.h"

namespace popdist::train {
namespace {

using popdist::testing::errorCodeOf;
using ::testing::ElementsAre;

// Leaves TF_CONFIG as it was for other tests: not set.
class Resolvers : public ::testing::Test {
 protected:
  Resolvers() { ::unsetenv("TF_CONFIG"); }
  ~Resolvers() override { ::unsetenv("TF_CONFIG"); }
};

// As a program would write one, for a scheduler that knows.
class OwnResolver : public ClusterResolver {
 public:
  Cluster resolve() const override { return {.workers = {"x:1", "y:1"}, .index = 1}; }
};

TEST_F(Resolvers, VariableIsReadWhenItIsAsked) {
  EXPECT_EQ(errorCodeOf([] { TfConfigResolver().resolve(); }), ErrorCode::kFailedPrecondition);
  setTfConfig(1, 3, 4000);
  EXPECT_THAT(TfConfigResolver().resolve().workers,
              ElementsAre("localhost:4000", "localhost:4001", "localhost:4002"));
  EXPECT_EQ(TfConfigResolver().resolve().instanceIndex(), 1);
  ::setenv("TF_CONFIG", "[]", 1);
  EXPECT_EQ(errorCodeOf([] { TfConfigResolver().resolve(); }), ErrorCode::kInvalidArgument);
}

TEST_F(Resolvers, SetTfConfigRefusesWhatNoClusterHas) {
  EXPECT_EQ(setTfConfig(0, 1),
            R"({"cluster":{"worker":["localhost:3737"]},"task":{"type":"worker","index":0}})");
  for (const auto& [index, count, port] : {std::tuple{-1, 2, 80},
                                           {2, 2, 80},
                                           {0, 0, 80},
                                           {0, 1, 0},
                                           {0, 1, 65536},
                                           {0, 2, 65535},
                                           {0, 2147483647, 1}}) {
    EXPECT_EQ(errorCodeOf([&] { setTfConfig(index, count, port); }), ErrorCode::kInvalidArgument)
        << index << ' ' << count << ' ' << port;
  }
}

TEST_F(Resolvers, ListOfTheProgramIsCheckedAsTheVariableIs) {
  EXPECT_EQ(SimpleResolver({"a:1", "b:1"}, 1).resolve().instanceIndex(), 1);
  const std::vector<std::pair<std::vector<std::string>, int>> bad{
      {{}, 0}, {{"a:1"}, 1}, {{"a:1"}, -1}, {{"a:1", "a:1"}, 0}, {{"a"}, 0}, {{"a:70000"}, 0}};
  for (const auto& [workers, index] : bad) {
    EXPECT_EQ(errorCodeOf([&workers = workers, index = index] { SimpleResolver(workers, index).resolve(); }),
              ErrorCode::kInvalidArgument);
  }
}

TEST_F(Resolvers, ResolverOrVariableNeverBoth) {
  const OwnResolver own;
  EXPECT_THAT(resolveCluster(&own).workers, ElementsAre("x:1", "y:1"));
  setTfConfig(0, 2);
  EXPECT_EQ(errorCodeOf([&] { resolveCluster(&own); }), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(resolveCluster().size(), 2);
  const TfConfigResolver same;
  EXPECT_EQ(resolveCluster(&same).size(), 2) << "it reads the variable: there are no two";
}

TEST_F(Resolvers, WithoutEitherAProcessIsAlone) {
  EXPECT_EQ(resolveCluster().size(), 1);
  EXPECT_TRUE(resolveCluster().isLeader());
  ::setenv("TF_CONFIG", "", 1);
  EXPECT_EQ(resolveCluster().size(), 1);
  EXPECT_EQ(errorCodeOf([] { PoprunResolver().resolve(); }), ErrorCode::kFailedPrecondition);
}

}  // namespace
}  // namespace popdist::train
