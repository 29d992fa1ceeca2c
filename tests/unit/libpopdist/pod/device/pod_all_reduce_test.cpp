// SPDX-License-Identifier: Apache-2.0
// The device all-reduce gives the same bits however the replicas are split over instances, and they are those
// of the documented order. The terms differ so much in size that any other order gives other bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "common/base/random.h"
#include "popdist/buffer.hpp"
#include "popdist/pod.hpp"
#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/pod/device/ring_reference.h"

namespace popdist {
namespace {

using testing::GroupShape;
using testing::ThreadGroup;

template <typename T>
using ReplicaTensors = std::vector<std::vector<T>>;  ///< one for each replica

template <typename T>
ReplicaTensors<T> wildTensors(std::size_t replicas, std::size_t count) {
  pop::SplitMix64 random(replicas * 1'000'003 + count);
  // The widest range in which no sum overflows.
  const int exponents = std::is_same_v<T, half> ? 10 : 40;
  ReplicaTensors<T> tensors(replicas, std::vector<T>(count));
  for (std::vector<T>& tensor : tensors) {
    for (T& value : tensor) {
      const int exponent =
          static_cast<int>(random.below(static_cast<std::uint64_t>(exponents))) - exponents / 2;
      const double number = std::ldexp(random.unit() - 0.5, exponent);
      if constexpr (std::is_arithmetic_v<T>)
        value = static_cast<T>(number);
      else
        value = T(static_cast<float>(number));
    }
  }
  return tensors;
}

// The instances whose tensors are in the memory that the host's instances share.
enum class Shared { kNobodys, kAll, kThoseOfInstance0 };

bool isShared(Shared shared, const Context& context) {
  return shared == Shared::kAll || (shared == Shared::kThoseOfInstance0 && context.instanceIndex() == 0);
}

// Sums the tensors of this instance's replicas, in its or in shared memory.
template <typename T>
void sumLocal(Context& context, Pod& pod, Shared shared, ReplicaTensors<T>& tensors) {
  const std::size_t count = tensors.front().size();
  std::vector<Buffer> buffers;
  std::vector<void*> local;
  for (int replica = 0; replica < pod.numLocalReplicas(); ++replica) {
    std::vector<T>& tensor = tensors[static_cast<std::size_t>(pod.firstReplica() + replica)];
    local.push_back(tensor.data());
    if (!isShared(shared, context)) continue;
    local.back() = buffers.emplace_back(context, count * sizeof(T)).data();
    std::copy(tensor.begin(), tensor.end(), buffers.back().template as<T>());
  }
  pod.allReduceSum(local, count, typeOf<T>());
  for (std::size_t i = 0; i < buffers.size(); ++i)
    std::copy_n(buffers[i].template as<T>(), count,
                tensors[static_cast<std::size_t>(pod.firstReplica()) + i].begin());
}

// Every replica's tensors after the all-reduce.
template <typename T>
ReplicaTensors<T> sumOnPod(const GroupShape& shape, Shared shared, ReplicaTensors<T> tensors) {
  ThreadGroup group(shape);
  group.run([&](Context& context) {
    Pod pod(context);
    sumLocal(context, pod, shared, tensors);
  });
  return tensors;
}

template <typename T>
bool sameBits(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return false;
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

struct PodCase {
  const char* name;
  int replicas;
  std::vector<std::vector<int>> splits;  ///< replicas of each instance
  int pods = 1;
  int ipus_per_replica = 1;
  std::string system = {};
};

void PrintTo(const PodCase& tested, std::ostream* out) {
  *out << tested.name;
}

struct Way {
  const char* name;
  Shared shared = Shared::kNobodys;
  bool one_host = true;  ///< else each instance is on its own
};

void PrintTo(const Way& way, std::ostream* out) {
  *out << way.name;
}

constexpr Way kWays[] = {{"InPrivateMemory"},
                         {"InSharedMemory", Shared::kAll},
                         {"InMemoryOfBothKinds", Shared::kThoseOfInstance0},
                         {"OverHosts", Shared::kNobodys, false}};

std::string nameOfCase(const ::testing::TestParamInfo<std::tuple<PodCase, Way>>& param_info) {
  return std::string(std::get<0>(param_info.param).name) + std::get<1>(param_info.param).name;
}

class DeviceAllReduce : public ::testing::TestWithParam<std::tuple<PodCase, Way>> {
 protected:
  template <typename T>
  void expectReferenceForEverySplit(std::size_t count) {
    const auto& [tested, way] = GetParam();
    const ReplicaTensors<T> tensors = wildTensors<T>(static_cast<std::size_t>(tested.replicas), count);
    std::vector<T> expected(count);
    for (std::size_t i = 0; i < count; ++i) {
      expected[i] = referenceSum(tensors, i, static_cast<std::size_t>(tested.pods));
    }
    for (const std::vector<int>& split : tested.splits) {
      const GroupShape shape{.replicas_of_instance = split,
                             .ipus_per_replica = tested.ipus_per_replica,
                             .system = tested.system,
                             .instances_per_host = way.one_host ? 0 : 1};
      const ReplicaTensors<T> sums = sumOnPod(shape, way.shared, tensors);
      for (std::size_t replica = 0; replica < sums.size(); ++replica) {
        EXPECT_TRUE(sameBits(sums[replica], expected))
            << nameOf(typeOf<T>()) << ", " << count << " elements, replica " << replica << ", split over "
            << split.size() << " instances";
      }
    }
  }
};

TEST_P(DeviceAllReduce, GivesTheBitsOfTheDocumentedOrderForEverySplit) {
  for (const std::size_t count : {0U, 1U, 3U, 8U, 1000U, 4099U}) expectReferenceForEverySplit<float>(count);
}

TEST_P(DeviceAllReduce, DoesSoForEveryFloatingPointType) {
  expectReferenceForEverySplit<double>(777);
  expectReferenceForEverySplit<half>(777);
  expectReferenceForEverySplit<bfloat16>(777);
}

INSTANTIATE_TEST_SUITE_P(
    Pods, DeviceAllReduce,
    ::testing::Combine(
        ::testing::Values(
            PodCase{"1Replica", 1, {{1}}}, PodCase{"2Replicas", 2, {{2}, {1, 1}}},
            PodCase{"3Replicas", 3, {{3}, {1, 1, 1}, {2, 1}, {1, 2}}},
            PodCase{"4Replicas", 4, {{4}, {2, 2}, {1, 1, 1, 1}, {3, 1}}},
            PodCase{"5Replicas", 5, {{5}, {2, 3}, {1, 1, 1, 1, 1}}},
            PodCase{"6Replicas", 6, {{6}, {3, 3}, {2, 2, 2}, {1, 1, 1, 1, 1, 1}, {1, 4, 1}}},
            PodCase{"7Replicas", 7, {{7}, {4, 3}, {2, 2, 2, 1}}},
            PodCase{"8Replicas", 8, {{8}, {4, 4}, {2, 2, 2, 2}, {1, 1, 1, 1, 1, 1, 1, 1}}},
            PodCase{"8ReplicasOf2Ipus", 8, {{8}, {4, 4}, {2, 2, 2, 2}}, 1, 2, "bow-pod16"},
            PodCase{"2ReplicasOn2Pods", 2, {{2}, {1, 1}}, 2, 64, "pod128"},
            PodCase{"4ReplicasOn2Pods", 4, {{4}, {2, 2}, {1, 1, 1, 1}, {1, 3}}, 2, 32, "pod128"},
            PodCase{"8ReplicasOn4Pods", 8, {{8}, {4, 4}, {2, 2, 2, 2}, {3, 3, 2}}, 4, 32, "pod256"}),
        ::testing::ValuesIn(kWays)),
    nameOfCase);

using LargeDeviceAllReduce = DeviceAllReduce;

// More than a stage holds at a time: its slots are used again.
TEST_P(LargeDeviceAllReduce, GivesTheBitsOfTheDocumentedOrderForEverySplit) {
  expectReferenceForEverySplit<double>(140'003);
}

INSTANTIATE_TEST_SUITE_P(Pods, LargeDeviceAllReduce,
                         ::testing::Combine(::testing::Values(PodCase{"3Replicas", 3, {{1, 1, 1}, {2, 1}}}),
                                            ::testing::ValuesIn(kWays)),
                         nameOfCase);

// Calls of all ways after each other on one Pod: stages, places and what else is kept from call to call.
class DeviceAllReduceSequence : public ::testing::TestWithParam<std::vector<int>> {
 protected:
  static constexpr std::size_t kReplicas = 5;

  template <typename T>
  static void expectReference(Context& context, Pod& pod, Shared shared, std::size_t count) {
    const ReplicaTensors<T> tensors = wildTensors<T>(kReplicas, count);
    ReplicaTensors<T> sums = tensors;
    sumLocal(context, pod, shared, sums);
    const auto own = sums.begin() + pod.firstReplica();
    for (std::size_t i = 0; i < count; ++i) {
      const T expected = referenceSum(tensors, i, 1);
      for (auto sum = own; sum != own + pod.numLocalReplicas(); ++sum)
        ASSERT_EQ(std::memcmp(&(*sum)[i], &expected, sizeof(T)), 0)
            << nameOf(typeOf<T>()) << ", element " << i << " of " << count;
    }
  }
};

TEST_P(DeviceAllReduceSequence, GivesTheSameBitsCallAfterCall) {
  ThreadGroup group(GroupShape{.replicas_of_instance = GetParam()});
  group.run([&](Context& context) {
    Pod pod(context);
    for (const Shared shared : {Shared::kNobodys, Shared::kThoseOfInstance0, Shared::kAll}) {
      for (const std::size_t count : {6000U, 5U, 4000U, 0U, 1U})
        expectReference<float>(context, pod, shared, count);
      expectReference<half>(context, pod, shared, 22'000);
    }
    expectReference<double>(context, pod, Shared::kNobodys, 70'001);
    expectReference<bfloat16>(context, pod, Shared::kNobodys, 3);
    expectReference<double>(context, pod, Shared::kNobodys, 70'001);
  });
}

INSTANTIATE_TEST_SUITE_P(Splits, DeviceAllReduceSequence,
                         ::testing::Values(std::vector{5}, std::vector{4, 1}, std::vector{2, 1, 2}));

// If this did not hold, none of the tests above could fail.
TEST(DeviceAllReduceSamples, GiveOtherBitsInAnotherOrder) {
  const ReplicaTensors<float> tensors = wildTensors<float>(4, 1000);
  int differing = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    const float in_order = ((tensors[0][i] + tensors[1][i]) + tensors[2][i]) + tensors[3][i];
    differing += in_order == referenceSum(tensors, i, 1) ? 0 : 1;
  }
  EXPECT_GT(differing, 100);
}

TEST(DeviceAllReduceOverload, OfFloatPointersIsTheSame) {
  ThreadGroup group(GroupShape{.replicas_of_instance = {2, 2}});
  group.run([](Context& context) {
    Pod pod(context);
    std::vector<float> first(100, 1.0F);
    std::vector<float> second(100, 10.0F);
    const std::vector<float*> tensors{first.data(), second.data()};
    pod.allReduceSum(tensors, first.size());
    EXPECT_THAT(first, ::testing::Each(22.0F));
    EXPECT_THAT(second, ::testing::Each(22.0F));
  });
}

TEST(DeviceAllReduceOfIntegers, IsExact) {
  ThreadGroup group(GroupShape{.replicas_of_instance = {1, 2, 3}});
  group.run([](Context& context) {
    Pod pod(context);
    std::vector<std::vector<std::int64_t>> tensors;
    std::vector<void*> pointers;
    for (int replica = 0; replica < pod.numLocalReplicas(); ++replica) {
      tensors.emplace_back(500, std::int64_t{1} << (8 * (pod.firstReplica() + replica)));
    }
    for (auto& tensor : tensors) pointers.push_back(tensor.data());
    pod.allReduceSum(pointers, 500, Type::kInt64);
    for (const auto& tensor : tensors) EXPECT_THAT(tensor, ::testing::Each(0x010101010101));
  });
}

}  // namespace
}  // namespace popdist
