// SPDX-License-Identifier: Apache-2.0
// Attaching to the Pod, and the calls that it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <latch>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "popdist/buffer.hpp"
#include "popdist/error.hpp"
#include "popdist/pod.hpp"
#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/collectives/context/fresh_process.h"

namespace popdist {
namespace {

using testing::GroupShape;
using ::testing::HasSubstr;
using testing::ThreadGroup;

void expectError(ErrorCode code, const char* text, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "no error about \"" << text << '"';
  } catch (const popdist_error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(text));
  }
}

TEST(Pod, SaysWhatItIs) {
  ThreadGroup group(GroupShape{.replicas_of_instance = {2, 1, 3}});
  group.run([](Context& context) {
    const Pod pod(context);
    EXPECT_EQ(pod.numReplicas(), 6);
    EXPECT_EQ(pod.numLocalReplicas(), context.numLocalReplicas());
    EXPECT_EQ(pod.firstReplica(), context.replicaIndexOffset());
  });
}

std::string systemFor(const GroupShape& shape) {
  std::string system;
  ThreadGroup group(shape);
  group.run([&](Context& context) {
    const Pod pod(context);
    if (context.instanceIndex() == 0) system = pod.system();
  });
  return system;
}

TEST(Pod, IsTheSmallestThatHoldsTheReplicasUnlessNamed) {
  EXPECT_EQ(systemFor({.replicas_of_instance = {1}}), "pod4");
  EXPECT_EQ(systemFor({.replicas_of_instance = {2, 2}}), "pod4");
  EXPECT_EQ(systemFor({.replicas_of_instance = {3, 2}}), "pod16");
  EXPECT_EQ(systemFor({.replicas_of_instance = {2, 2}, .ipus_per_replica = 16}), "pod64");
  EXPECT_EQ(systemFor({.replicas_of_instance = {1}, .system = "Bow-Pod64"}), "bow-pod64");
}

TEST(Pod, IsASystemThatIsDescribed) {
  EXPECT_EQ(systemFor({.replicas_of_instance = {2, 2}, .system = "system mine; machines 2; topology torus"}),
            "mine");
}

SimulatedTime allReduceTimeOn(const char* system) {
  SimulatedTime time{};
  ThreadGroup group(GroupShape{.replicas_of_instance = {8}, .ipus_per_replica = 2, .system = system});
  group.run([&](Context& context) {
    Pod pod(context);
    pod.advanceAllReduce(64 << 20, pod.numReplicas());
    time = pod.time();
  });
  return time;
}

TEST(Pod, HasTheTimesOfTheDescribedSystem) {
  EXPECT_EQ(allReduceTimeOn("system p16; machines 4"), allReduceTimeOn("pod16"));
  EXPECT_GT(allReduceTimeOn("system slow; base pod16; rate rail 1 GB/s"), allReduceTimeOn("pod16"));
}

struct Refusal {
  const char* name;
  GroupShape shape;
  ErrorCode code;
  const char* message;
};

void PrintTo(const Refusal& refusal, std::ostream* out) {
  *out << refusal.name;
}

class RefusedPod : public ::testing::TestWithParam<Refusal> {};

TEST_P(RefusedPod, SaysWhyOnEveryInstance) {
  ThreadGroup group(GetParam().shape);
  group.run([](Context& context) {
    expectError(GetParam().code, GetParam().message, [&] { Pod pod(context); });
    context.world().synchronize();  // the context goes on
  });
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, RefusedPod,
    ::testing::Values(Refusal{"Offline",
                              {.replicas_of_instance = {1, 1}, .offline = true},
                              ErrorCode::kFailedPrecondition,
                              "--offline-mode"},
                      Refusal{"TooManyReplicas",
                              {.replicas_of_instance = {4, 4}, .system = "pod4"},
                              ErrorCode::kInvalidArgument,
                              "8 IPUs and there are 4"},
                      Refusal{"TooLargeReplicas",
                              {.replicas_of_instance = {1, 1}, .ipus_per_replica = 4, .system = "pod4"},
                              ErrorCode::kInvalidArgument,
                              "8 IPUs and there are 4"},
                      Refusal{"MoreThanAnySystem",
                              {.replicas_of_instance = {1025}, .ipus_per_replica = 64},
                              ErrorCode::kInvalidArgument,
                              "the largest"},
                      Refusal{"NoPowerOfTwo",
                              {.replicas_of_instance = {1}, .ipus_per_replica = 3},
                              ErrorCode::kInvalidArgument,
                              "power of two"},
                      Refusal{"UnknownSystem",
                              {.replicas_of_instance = {1}, .system = "pod5"},
                              ErrorCode::kInvalidArgument,
                              "pod5"},
                      Refusal{"WrongSystemText",
                              {.replicas_of_instance = {1}, .system = "system s; mashines 1"},
                              ErrorCode::kInvalidArgument,
                              "POPDIST_SYSTEM:1: 'mashines' is no word of a system"},
                      Refusal{"TooManyReplicasForSystemText",
                              {.replicas_of_instance = {4, 4}, .system = "system p4; machines 1"},
                              ErrorCode::kInvalidArgument,
                              "8 replicas of 1 IPU on p4: that takes 8 IPUs and there are 4"}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

TEST(Pod, RefusesBadCallsAndGoesOn) {
  ThreadGroup group(GroupShape{.replicas_of_instance = {2, 2}});
  group.run([](Context& context) {
    Pod pod(context);
    std::array<std::array<float, 8>, 3> memory{};
    const auto sum = [&](std::vector<void*> tensors, Type type) { pod.allReduceSum(tensors, 8, type); };
    float* const a = memory[0].data();
    float* const b = memory[1].data();
    const auto refused = ErrorCode::kInvalidArgument;
    expectError(refused, "2 local replicas, got 1", [&] { sum({a}, Type::kFloat); });
    expectError(refused, "2 local replicas, got 3", [&] { sum({a, b, memory[2].data()}, Type::kFloat); });
    expectError(refused, "2 local replicas, got 0", [&] { sum({}, Type::kFloat); });
    expectError(refused, "null pointer", [&] { sum({a, nullptr}, Type::kFloat); });
    expectError(refused, "sum of bool is not supported", [&] { sum({a, b}, Type::kBool); });
    EXPECT_EQ(pod.time().count(), 0) << "a refused call takes no time";
    memory[0].fill(1.0F);
    memory[1].fill(2.0F);
    sum({a, b}, Type::kFloat);
    EXPECT_EQ(memory[1][7], 6.0F);
  });
}

// On one host, or each instance on its own.
class FailedPod : public ::testing::TestWithParam<int> {
 protected:
  static GroupShape shapeOf(int instances) {
    return {.replicas_of_instance = std::vector<int>(static_cast<std::size_t>(instances), 2),
            .instances_per_host = GetParam()};
  }
};

TEST_P(FailedPod, TellsInstancesThatTheyPassDifferentCounts) {
  ThreadGroup group(shapeOf(2));
  group.run([](Context& context) {
    Pod pod(context);
    std::vector<float> first(4000);
    std::vector<float> second(4000);
    const std::vector<float*> tensors{first.data(), second.data()};
    const std::size_t count = context.instanceIndex() == 0 ? 10 : 4000;
    expectError(ErrorCode::kFailedPrecondition, "Pod::allReduceSum",
                [&] { pod.allReduceSum(tensors, count); });
    EXPECT_EQ(pod.time().count(), 0);
    expectError(ErrorCode::kFailedPrecondition, "4000", [&] { pod.allReduceSum(tensors, 10); });
    expectError(ErrorCode::kFailedPrecondition, "an earlier call", [&] { pod.allReduceSum(tensors, 10); });
  });
}

TEST_P(FailedPod, NamesAnInstanceThatIsLost) {
  for (const bool shared : {false, true}) {
    for (const std::size_t count : {20U, 20'000U}) {
      ThreadGroup group(shapeOf(3));
      group.run([&](Context& context) {
        Pod pod(context);
        if (context.instanceIndex() == 1) return group.end(1, false, "instance 1 was killed by SIGKILL");
        std::vector<float> own(2 * count);
        const Buffer buffer(context, own.size() * sizeof(float));
        float* const memory = shared ? buffer.as<float>() : own.data();
        const std::vector<float*> tensors{memory, memory + count};
        try {
          pod.allReduceSum(tensors, count);
          ADD_FAILURE() << "no error";
        } catch (const popdist_error& error) {
          EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
          EXPECT_EQ(error.peer(), 1);
          EXPECT_EQ(error.operation(), "Pod::allReduceSum");
        }
      });
    }
  }
}

TEST_P(FailedPod, HasADeadline) {
  ThreadGroup group(shapeOf(2));
  std::latch failed(1);
  group.run([&](Context& context) {
    Pod pod(context);
    if (context.instanceIndex() == 1) return failed.wait();
    context.setTimeout(std::chrono::milliseconds(50));
    std::vector<float> memory(40'000);
    const std::vector<float*> tensors{memory.data(), memory.data() + 20'000};
    expectError(ErrorCode::kDeadlineExceeded, "Pod::allReduceSum",
                [&] { pod.allReduceSum(tensors, 20'000); });
    failed.count_down();
  });
}

INSTANTIATE_TEST_SUITE_P(Hosts, FailedPod, ::testing::Values(0, 1), [](const auto& param_info) {
  return param_info.param == 0 ? "OfOneHost" : "OverHosts";
});

// A program that makes many, one after the other, as notebooks do.
TEST(Pod, OfALoneProgramTakesNothingForGood) {
  EXPECT_EQ(inFreshProcess({},
                           [] {
                             for (int i = 0; i < 200; ++i) Pod(Context::fromEnvironment()).time();
                             return "made";
                           }),
            "made");
}

TEST(Pod, OfALoneProgramIsNotForAForkedChild) {
  const auto sum = [](Pod& pod) {
    float value = 7.0F;
    pod.allReduceSum(std::vector<float*>{&value}, 1);
    return std::to_string(value);
  };
  const std::string said = inFreshProcess({}, [&] {
    Pod pod(Context::fromEnvironment());
    return inFreshProcess({}, [&] { return sum(pod); }) + "; parent: " + sum(pod);
  });
  EXPECT_THAT(said, HasSubstr("was forked"));
  EXPECT_THAT(said, HasSubstr("; parent: 7.0"));
}

// One instance can have no stage; the others hear why.
TEST(Pod, WithoutRoomForItsStageSaysSoOnEveryInstance) {
  constexpr std::size_t kCount = 100'000;
  ThreadGroup group(GroupShape{.replicas_of_instance = {16, 1}, .segment_bytes = 32 << 20});
  group.run([](Context& context) {
    Pod pod(context);
    std::vector<std::vector<float>> memory(static_cast<std::size_t>(pod.numLocalReplicas()),
                                           std::vector<float>(kCount));
    std::vector<float*> tensors;
    for (std::vector<float>& tensor : memory) tensors.push_back(tensor.data());
    expectError(ErrorCode::kResourceExhausted, "segment", [&] { pod.allReduceSum(tensors, kCount); });
  });
}

// In a host's memory, or by messages of replicas in several instances of it.
TEST(Pod, WithoutRoomInTheSegmentSaysThatItIsThePodsAttachingThatFails) {
  for (const int instances : {2, 4}) {
    ThreadGroup group(
        GroupShape{.replicas_of_instance = std::vector<int>(static_cast<std::size_t>(instances), 2),
                   .instances_per_host = 2,
                   .segment_bytes = 64 << 20});
    group.run([](Context& context) {
      std::vector<std::unique_ptr<Pod>> pods;
      const auto attach_many = [&] {
        for (int i = 0; i < 100; ++i) pods.push_back(std::make_unique<Pod>(context));
      };
      expectError(ErrorCode::kResourceExhausted, "attaching to the Pod: ", attach_many);
    });
  }
}

}  // namespace
}  // namespace popdist
