// SPDX-License-Identifier: Apache-2.0
// The device reduce-scatter gives each instance its part of the all-reduce, to the bit, for every split of
// the replicas and of the elements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ostream>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "popdist/buffer.hpp"
#include "popdist/error.hpp"
#include "popdist/pod.hpp"
#include "tests/testing/error_code_of.h"
#include "tests/testing/thread_group.h"

namespace popdist {
namespace {

using testing::errorCodeOf;
using testing::GroupShape;
using testing::ThreadGroup;

// Differ so much in size that any other order of additions gives other bits.
float wildElement(int replica, std::size_t index) {
  pop::SplitMix64 random(static_cast<std::uint64_t>(replica) * 1'000'003 + index);
  return static_cast<float>(std::ldexp(random.unit() - 0.5, static_cast<int>(random.below(40)) - 20));
}

/// Tensors of an instance's replicas, in its own memory or in that of the host.
struct WildTensors {
  WildTensors(Context& context, const Pod& pod, std::size_t count, bool shared) {
    for (int local = 0; local < pod.numLocalReplicas(); ++local) {
      if (shared)
        tensors.push_back(buffers.emplace_back(context, count * sizeof(float)).data());
      else
        tensors.push_back(own.emplace_back(count + 1).data());
      for (std::size_t i = 0; i < count; ++i) of(local)[i] = wildElement(pod.firstReplica() + local, i);
    }
  }
  float* of(int local) { return static_cast<float*>(tensors[static_cast<std::size_t>(local)]); }

  std::vector<Buffer> buffers;
  std::vector<std::vector<float>> own;
  std::vector<void*> tensors;
};

/// Parts of `count` elements, one of `parts` for each of so many instances, and again from the first.
std::vector<Pod::Part> partsOf(std::size_t count, int instances, int parts) {
  std::vector<Pod::Part> all;
  for (int instance = 0; instance < instances; ++instance) {
    const auto index = static_cast<std::size_t>(instance % parts);
    const auto pieces = static_cast<std::size_t>(parts);
    const std::size_t begin = count * index / pieces;
    all.push_back({begin, count * (index + 1) / pieces - begin});
  }
  return all;
}

struct Where {
  const char* name;
  bool shared;
  bool one_host;
};

class DeviceReduceScatter : public ::testing::TestWithParam<Where> {
 protected:
  static GroupShape shapeOf(const std::vector<int>& split, std::string system = {}, int ipus = 1) {
    return {.replicas_of_instance = split,
            .ipus_per_replica = ipus,
            .system = std::move(system),
            .instances_per_host = GetParam().one_host ? 0 : 1};
  }

  static void expectBitsOfAllReduce(const GroupShape& shape, int parts, int group, std::size_t count) {
    ThreadGroup instances(shape);
    instances.run([&](Context& context) {
      Pod pod(context);
      WildTensors expected(context, pod, count, false);
      pod.allReduceSum(expected.tensors, count, Type::kFloat);
      WildTensors got(context, pod, count, GetParam().shared);
      const auto all = partsOf(count, context.numInstances(), parts);
      pod.reduceScatterSum(got.tensors, count, Type::kFloat, all, group);
      const Pod::Part own = all[static_cast<std::size_t>(context.instanceIndex())];
      EXPECT_TRUE(own.count == 0 || std::memcmp(got.of(0) + own.begin, expected.of(0) + own.begin,
                                                own.count * sizeof(float)) == 0)
          << count << " elements in " << parts << " parts, instance " << context.instanceIndex();
    });
  }
};

TEST_P(DeviceReduceScatter, GivesTheBitsOfTheAllReduce) {
  for (const std::size_t count : {0U, 1U, 5U, 1000U, 40'003U}) {
    expectBitsOfAllReduce(shapeOf({1}), 1, 1, count);
    expectBitsOfAllReduce(shapeOf({4}), 1, 4, count);
    expectBitsOfAllReduce(shapeOf({1, 1}), 2, 2, count);
    expectBitsOfAllReduce(shapeOf({2, 2}), 1, 2, count);
    expectBitsOfAllReduce(shapeOf({2, 2}), 2, 4, count);
    expectBitsOfAllReduce(shapeOf({1, 1, 1, 1}), 1, 1, count);
    expectBitsOfAllReduce(shapeOf({1, 1, 1, 1}), 2, 2, count);
    expectBitsOfAllReduce(shapeOf({1, 1, 1, 1}), 4, 4, count);
    expectBitsOfAllReduce(shapeOf({3, 2}), 2, 5, count);
  }
}

TEST_P(DeviceReduceScatter, GivesThemAcrossPods) {
  expectBitsOfAllReduce(shapeOf({2, 2}, "pod128", 32), 2, 4, 5003);
  expectBitsOfAllReduce(shapeOf({1, 1, 1, 1}, "pod128", 32), 2, 2, 5003);
}

INSTANTIATE_TEST_SUITE_P(Ways, DeviceReduceScatter,
                         ::testing::Values(Where{"InPrivateMemory", false, true},
                                           Where{"InSharedMemory", true, true},
                                           Where{"OverHosts", true, false}),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(PodReduceScatter, RefusesPartsThatMakeNoSense) {
  ThreadGroup instances(GroupShape{.replicas_of_instance = {1, 1}});
  instances.run([](Context& context) {
    Pod pod(context);
    WildTensors local(context, pod, 100, true);
    const auto code = [&](const std::vector<Pod::Part>& parts, int group) {
      return errorCodeOf([&] { pod.reduceScatterSum(local.tensors, 100, Type::kFloat, parts, group); });
    };
    EXPECT_EQ(code({{0, 50}}, 2), ErrorCode::kInvalidArgument);
    EXPECT_EQ(code({{0, 50}, {50, 51}}, 2), ErrorCode::kInvalidArgument);
    EXPECT_EQ(code({{0, 50}, {49, 51}}, 2), ErrorCode::kInvalidArgument);
    EXPECT_EQ(code({{0, 50}, {50, 50}}, 0), ErrorCode::kInvalidArgument);
    EXPECT_EQ(code({{0, 50}, {50, 50}}, 3), ErrorCode::kInvalidArgument);
    EXPECT_EQ(pod.time().count(), 0);
    EXPECT_EQ(code({{0, 50}, {50, 50}}, 2), std::nullopt);
  });
}

TEST(PodReduceScatter, TellsInstancesThatTheyPassDifferentParts) {
  for (const int instances_per_host : {0, 1}) {
    ThreadGroup instances(
        GroupShape{.replicas_of_instance = {1, 1}, .instances_per_host = instances_per_host});
    instances.run([](Context& context) {
      Pod pod(context);
      WildTensors local(context, pod, 10'000, true);
      const std::size_t first = context.instanceIndex() == 0 ? 5000 : 6000;
      const std::vector<Pod::Part> parts{{0, first}, {first, 10'000 - first}};
      EXPECT_EQ(errorCodeOf([&] { pod.reduceScatterSum(local.tensors, 10'000, Type::kFloat, parts, 2); }),
                ErrorCode::kFailedPrecondition);
    });
  }
}

}  // namespace
}  // namespace popdist
