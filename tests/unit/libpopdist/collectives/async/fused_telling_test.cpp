// SPDX-License-Identifier: Apache-2.0
// FusedAllReduce::onReduced: told of each tensor when it holds its sum, while others are not ready.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "popdist/fused.hpp"
#include "tests/unit/libpopdist/collectives/async/members.h"

namespace popdist {
namespace {

using ::testing::Each;
using testing::everybody;
using testing::MembersShape;
using testing::ThreadGroup;

constexpr std::size_t kTensors = 6;
constexpr std::size_t kTensorElements = 10;

/// Of different buckets of two, each in memory of its own.
struct SixTensors {
  explicit SixTensors(float value) : values(kTensors, std::vector<float>(kTensorElements, value)) {}
  std::vector<FusedTensor> all() {
    std::vector<FusedTensor> tensors;
    for (std::vector<float>& each : values)
      tensors.push_back({"tensor", each.data(), each.size(), Type::kFloat});
    return tensors;
  }
  std::vector<std::vector<float>> values;
};

constexpr FusionOptions kPairs{.bucket_bytes = 2 * kTensorElements * sizeof(float)};

class FusedTelling : public ::testing::TestWithParam<MembersShape> {};
INSTANTIATE_TEST_SUITE_P(Members, FusedTelling,
                         ::testing::Values(MembersShape{1}, MembersShape{3}, MembersShape{2, true}),
                         testing::nameOfShape);

TEST_P(FusedTelling, TellsOfATensorWhenItHoldsItsSumWhileOthersAreNotReady) {
  ThreadGroup group(GetParam().group());
  group.run([](Context& context) {
    AsyncCommunicator members = everybody(context);
    SixTensors tensors(1);
    FusedAllReduce fused(context, members, "step", tensors.all(), kPairs);
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::size_t> told;
    fused.onReduced([&](std::size_t tensor) {
      EXPECT_THAT(tensors.values[tensor], Each(context.numInstances()));
      for (float& value : tensors.values[tensor]) value = -1;  // it may be changed
      const std::lock_guard lock(mutex);
      told.push_back(tensor);
      changed.notify_all();
    });
    for (int step = 0; step < 3; ++step) {
      for (std::vector<float>& each : tensors.values) each.assign(kTensorElements, 1);
      told.clear();
      for (std::size_t tensor = 0; tensor < kTensors; tensor += 2) {
        fused.ready(tensor);
        fused.ready(tensor + 1);
        std::unique_lock lock(mutex);
        ASSERT_TRUE(
            changed.wait_for(lock, std::chrono::seconds(15), [&] { return told.size() == tensor + 2; }));
      }
      fused.wait();
      EXPECT_THAT(told, ::testing::ElementsAre(0, 1, 2, 3, 4, 5));
      for (const std::vector<float>& each : tensors.values) EXPECT_THAT(each, Each(-1));
    }
  });
}

TEST(FusedTelling, WaitThrowsWhatATellingThrowsAndTheNextStepGoesOn) {
  ThreadGroup group(2);
  group.run([](Context& context) {
    AsyncCommunicator members = everybody(context);
    SixTensors tensors(1);
    FusedAllReduce fused(context, members, "step", tensors.all(), kPairs);
    std::vector<std::size_t> told;
    bool fails = true;
    fused.onReduced([&](std::size_t tensor) {
      told.push_back(tensor);
      if (fails && tensor == 2) throw std::runtime_error("two");
    });
    EXPECT_THROW(fused.reduce(), std::runtime_error);
    EXPECT_THAT(told, ::testing::ElementsAre(0, 1, 2));
    fails = false;
    told.clear();
    fused.reduce();
    EXPECT_EQ(told.size(), kTensors);
  });
}

}  // namespace
}  // namespace popdist
