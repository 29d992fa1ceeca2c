// SPDX-License-Identifier: Apache-2.0
// The simulated clock of the device: the same on every instance and for every split.
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <vector>

#include "popdist/error.hpp"
#include "popdist/pod.hpp"
#include "tests/testing/thread_group.h"

namespace popdist {
namespace {

using testing::GroupShape;
using testing::ThreadGroup;

void sum(Pod& pod, std::size_t count, Type type = Type::kFloat) {
  std::vector<std::vector<double>> memory(static_cast<std::size_t>(pod.numLocalReplicas()),
                                          std::vector<double>(count));
  std::vector<void*> tensors;
  for (auto& tensor : memory) tensors.push_back(tensor.data());
  pod.allReduceSum(tensors, count, type);
}

// pod.time() after each of `calls`, on all instances; instances that disagree fail the test.
template <typename Calls>
SimulatedTime timeOf(const GroupShape& shape, const Calls& calls) {
  std::vector<SimulatedTime> times(shape.replicas_of_instance.size());
  ThreadGroup group(shape);
  group.run([&](Context& context) {
    Pod pod(context);
    calls(pod);
    times[static_cast<std::size_t>(context.instanceIndex())] = pod.time();
  });
  for (const SimulatedTime time : times) EXPECT_EQ(time.count(), times.front().count());
  return times.front();
}

TEST(PodTime, StartsAtZero) {
  EXPECT_EQ(timeOf({.replicas_of_instance = {2, 2}}, [](Pod&) {}).count(), 0);
}

TEST(PodTime, DoesNotDependOnTheSplit) {
  const auto step = [](Pod& pod) {
    pod.advanceCompute(1e9);
    sum(pod, 10'000);
    sum(pod, 17);
  };
  const SimulatedTime expected = timeOf({.replicas_of_instance = {8}}, step);
  EXPECT_GT(expected.count(), 0);
  const std::vector<std::vector<int>> splits{{4, 4}, {2, 2, 2, 2}, {1, 1, 1, 1, 1, 1, 1, 1}, {5, 3}};
  for (const std::vector<int>& split : splits) {
    EXPECT_EQ(timeOf({.replicas_of_instance = split}, step).count(), expected.count());
  }
}

TEST(PodTime, GrowsWithCountAndElementSize) {
  const auto of = [](std::size_t count, Type type) {
    return timeOf({.replicas_of_instance = {2, 2}}, [&](Pod& pod) { sum(pod, count, type); });
  };
  EXPECT_EQ(of(0, Type::kFloat).count(), 0);
  SimulatedTime before{0};
  for (const std::size_t count : {100U, 10'000U, 50'000U}) {
    EXPECT_GT(of(count, Type::kFloat), before);
    before = of(count, Type::kFloat);
  }
  EXPECT_GT(of(10'000, Type::kDouble), of(10'000, Type::kFloat));
  EXPECT_EQ(of(10'000, Type::kInt32), of(10'000, Type::kFloat));
}

TEST(PodTime, AddsUpExactly) {
  timeOf({.replicas_of_instance = {1, 3}}, [](Pod& pod) {
    sum(pod, 1000);
    const SimulatedTime once = pod.time();
    for (int i = 0; i < 9; ++i) sum(pod, 1000);
    EXPECT_EQ(pod.time().count(), 10 * once.count());
    EXPECT_EQ(pod.collectiveTime().count(), 10 * once.count());
  });
}

TEST(PodTime, OfComputationIsNoCollectiveTime) {
  timeOf({.replicas_of_instance = {2, 2}}, [](Pod& pod) {
    pod.advanceCompute(1e6);
    const SimulatedTime compute = pod.time();
    EXPECT_GT(compute.count(), 0);
    EXPECT_EQ(pod.collectiveTime().count(), 0);
    pod.advanceCompute(0);
    EXPECT_EQ(pod.time().count(), compute.count());
    sum(pod, 100);
    EXPECT_EQ((pod.time() - pod.collectiveTime()).count(), compute.count());
  });
}

// 62.5 TFLOP/s, of which 0.3 are reached (pod_spec.h): 18.75e12 operations take a second on one IPU.
TEST(PodTime, OfComputationFollowsFromTheModelsRate) {
  const auto compute = [](Pod& pod) { pod.advanceCompute(18.75e12); };
  const auto seconds = [](SimulatedTime time) { return std::chrono::duration<double>(time).count(); };
  EXPECT_NEAR(seconds(timeOf({.replicas_of_instance = {2}}, compute)), 1.0, 1e-9);
  EXPECT_NEAR(seconds(timeOf({.replicas_of_instance = {2}, .ipus_per_replica = 2}, compute)), 0.5, 1e-9);
  EXPECT_NEAR(seconds(timeOf({.replicas_of_instance = {2}, .system = "bow-pod16"}, compute)), 1.0 / 1.4,
              1e-9);
}

TEST(PodTime, DoesNotRunBackwardsOrOver) {
  timeOf({.replicas_of_instance = {1}}, [](Pod& pod) {
    for (const double wrong : {-1.0, 1e21, 1e22, std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()}) {
      try {
        pod.advanceCompute(wrong);
        ADD_FAILURE() << wrong << " operations were accepted";
      } catch (const popdist_error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      }
    }
    EXPECT_EQ(pod.time().count(), 0);
    constexpr double kStep = 1e19;  // 6 days of one IPU
    const auto step = [&pod] { pod.advanceCompute(kStep); };
    for (int i = 0; i < 8; ++i) step();
    const SimulatedTime before = pod.time();
    EXPECT_GT(before, std::chrono::days(48));
    EXPECT_THROW(step(), popdist_error);
    EXPECT_EQ(pod.time(), before);
  });
}

// A reduce-scatter and an all-gather of all replicas are what an all-reduce consists of.
TEST(PodTime, CountsWhatReplicasThatShareExchange) {
  timeOf({.replicas_of_instance = {2, 2}}, [](Pod& pod) {
    constexpr std::size_t kShared = 4000;
    sum(pod, kShared);
    const SimulatedTime all_reduce = pod.times().all_reduce;
    EXPECT_EQ(pod.time(), all_reduce);
    std::vector<std::vector<float>> memory(2, std::vector<float>(kShared));
    std::vector<void*> tensors{memory[0].data(), memory[1].data()};
    const std::vector<Pod::Part> parts{{0, kShared / 2}, {kShared / 2, kShared / 2}};
    pod.reduceScatterSum(tensors, kShared, Type::kFloat, parts, 4);
    const SimulatedTime scattered = pod.times().reduce_scatter;
    EXPECT_LT(scattered, all_reduce);
    pod.advanceAllGather(kShared * sizeof(float), 4);
    EXPECT_EQ(scattered + pod.times().all_gather, all_reduce);
    EXPECT_EQ(pod.collectiveTime(), 2 * all_reduce);
    pod.reduceScatterSum(tensors, kShared, Type::kFloat, parts, 1);  // no instances share: an all-reduce
    EXPECT_EQ(pod.times().all_reduce, 2 * all_reduce);
    pod.advanceAllGather(kShared * sizeof(float), 1);
    EXPECT_EQ(pod.collectiveTime(), 3 * all_reduce);
  });
}

TEST(PodTime, CountsCollectivesOfGroupsAndStreaming) {
  timeOf({.replicas_of_instance = {2, 2}}, [](Pod& pod) {
    pod.advanceAllReduce(256, 2);
    const SimulatedTime pairs = pod.times().all_reduce;
    EXPECT_GT(pairs.count(), 0);
    pod.advanceAllReduce(256, 4);
    EXPECT_GT(pod.times().all_reduce, 2 * pairs);
    const SimulatedTime collectives = pod.collectiveTime();
    pod.advanceStreaming(SimulatedTime(77));
    EXPECT_EQ(pod.times().streaming.count(), 77);
    EXPECT_EQ(pod.collectiveTime(), collectives);
    EXPECT_EQ(pod.time(), collectives + SimulatedTime(77));
    EXPECT_THROW(pod.advanceStreaming(SimulatedTime(-1)), popdist_error);
    EXPECT_THROW(pod.advanceAllGather(256, 3), popdist_error);
    EXPECT_THROW(pod.advanceAllReduce(256, 0), popdist_error);
    EXPECT_EQ(pod.time(), collectives + SimulatedTime(77));
  });
}

// The same work over other links.
TEST(PodTime, DependsOnTheSystem) {
  const auto step = [](Pod& pod) { sum(pod, 100'000); };
  const SimulatedTime one_pod =
      timeOf({.replicas_of_instance = {2}, .ipus_per_replica = 32, .system = "pod64"}, step);
  const SimulatedTime two_pods =
      timeOf({.replicas_of_instance = {2}, .ipus_per_replica = 64, .system = "pod128"}, step);
  EXPECT_NE(one_pod.count(), two_pods.count());
}

// ---- overlap

TEST(PodTime, OfAnOverlapIsThatOfTheLongerOne) {
  const GroupShape shape{.replicas_of_instance = {4}};
  const SimulatedTime collective = timeOf(shape, [](Pod& pod) { sum(pod, 10'000); });
  const auto ended = [&](SimulatedTime compute) {
    return timeOf(shape, [&](Pod& pod) {
      pod.advance(SimulatedTime(7));
      {
        const Pod::Overlap overlap(pod);
        pod.advance(compute);
        const Pod::Overlap inner(pod);
        sum(pod, 10'000);
        EXPECT_EQ(pod.time(), std::max(compute, collective) + SimulatedTime(7));
      }
      EXPECT_EQ(pod.times().hidden, std::min(compute, collective));
      EXPECT_EQ(pod.times().compute, compute + SimulatedTime(7));
      EXPECT_EQ(pod.collectiveTime(), collective);
    });
  };
  EXPECT_EQ(ended(collective / 2), collective + SimulatedTime(7));
  EXPECT_EQ(ended(collective * 3), collective * 3 + SimulatedTime(7));
}

TEST(PodTime, OfCollectivesEndsWhereItCannotBeCounted) {
  ThreadGroup group(GroupShape{.replicas_of_instance = {4}});
  group.run([](Context& context) {
    Pod pod(context);
    const std::size_t bytes = std::size_t{1} << 54;
    EXPECT_THROW(pod.advanceAllReduce(std::numeric_limits<std::size_t>::max(), 4), popdist_error);
    EXPECT_THROW(pod.advanceAllGather(std::numeric_limits<std::size_t>::max(), 2), popdist_error);
    EXPECT_EQ(pod.time().count(), 0);
    bool is_refused = false;
    for (int times = 0; times < 20 && !is_refused; ++times) {
      const SimulatedTime before = pod.time();
      try {
        pod.advanceAllReduce(bytes, 4);
        EXPECT_GT(pod.time(), before);
      } catch (const popdist_error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
        EXPECT_EQ(pod.time(), before);
        is_refused = true;
      }
    }
    EXPECT_TRUE(is_refused);
  });
}

}  // namespace
}  // namespace popdist
