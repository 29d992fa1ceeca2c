// SPDX-License-Identifier: Apache-2.0
// Contexts of a cluster whose instances are threads of the test.
#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <string>
#include <vector>

#include "popdist/cluster_resolver.hpp"
#include "tests/testing/error_code_of.h"
#include "tests/testing/free_port.h"
#include "tests/testing/thread_group.h"

namespace popdist::train {
namespace {

using popdist::testing::errorCodeOf;
using popdist::testing::runThreads;

std::vector<std::string> freeWorkers(int count) {
  std::vector<std::string> workers;
  for (const int port : pop::testing::freePorts(count))
    workers.push_back("127.0.0.1:" + std::to_string(port));
  return workers;
}

TEST(ClusterContext, OfThreadsIsAContextLikeAnyOther) {
  const std::vector<std::string> workers = freeWorkers(3);
  runThreads(3, [&](int i) {
    const auto context = contextOf(SimpleResolver(workers, i).resolve(), {.replicas_per_instance = 2});
    EXPECT_EQ(context->instanceIndex(), i);
    EXPECT_EQ(context->numTotalReplicas(), 6);
    EXPECT_EQ(context->replicaIndexOffset(), 2 * i);
    EXPECT_EQ(context->localInstanceIndex(), 0) << "each is a host of its own";
    context->put(std::to_string(i), "here");
    context->fence();
    EXPECT_EQ(context->get("2"), "here");
    std::vector<int> sums(1000, i);
    context->world().allReduceSum(sums);
    EXPECT_EQ(sums, std::vector<int>(1000, 3));
  });
}

TEST(ClusterContext, LateFenceNamesWhoIsMissing) {
  const std::vector<std::string> workers = freeWorkers(2);
  std::latch given_up(1);
  runThreads(2, [&](int i) {
    const auto context = contextOf(SimpleResolver(workers, i).resolve());
    if (i == 0) {
      context->setTimeout(std::chrono::milliseconds(20));
      EXPECT_EQ(errorCodeOf([&] { context->fence(); }), ErrorCode::kDeadlineExceeded);
      context->setTimeout(std::chrono::seconds(20));
      given_up.count_down();
    }
    given_up.wait();
    context->fence();
  });
}

TEST(ClusterContext, SecondOfAnIndexIsRefused) {
  const std::vector<std::string> workers = freeWorkers(2);
  runThreads(2, [&](int i) {
    const auto context = contextOf(SimpleResolver(workers, i).resolve());
    context->fence();
    EXPECT_EQ(errorCodeOf([&] { contextOf(SimpleResolver(workers, i).resolve()); }),
              ErrorCode::kAlreadyExists);
    context->fence();
  });
}

TEST(ClusterContext, ComesAgainAtTheSameAddresses) {
  const std::vector<std::string> workers = freeWorkers(2);
  for (int round = 0; round < 3; ++round) {
    runThreads(2, [&](int i) { contextOf(SimpleResolver(workers, i).resolve())->fence(); });
  }
}

TEST(ClusterContext, RefusesWhatIsNoCluster) {
  const auto code = [](const Cluster& cluster, const ClusterOptions& options = {}) {
    return errorCodeOf([&] { contextOf(cluster, options); });
  };
  EXPECT_EQ(code({.workers = {"a"}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.workers = {"a:1"}, .index = 1}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.workers = {"a:1"}, .type = TaskType::kChief}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.workers = {"", ""}, .from_poprun = true}), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code({}, {.timeout = std::chrono::milliseconds(0)}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({}, {.replicas_per_instance = 0}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({}, {.ipus_per_replica = -1}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.workers = {"a:1", "b:1"}}, {.replicas_per_instance = 2'000'000'000}),
            ErrorCode::kInvalidArgument);
}

TEST(ClusterContext, OfAnEvaluatorIsAloneAndOffline) {
  const auto context = contextOf({.workers = {"a:1", "b:1"}, .type = TaskType::kEvaluator});
  EXPECT_EQ(context->numInstances(), 1);
  EXPECT_TRUE(context->offline());
  context->fence();
}

}  // namespace
}  // namespace popdist::train
