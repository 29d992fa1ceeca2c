// SPDX-License-Identifier: Apache-2.0
// Arguments that batch norm refuses, and that nothing has happened then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "popdist/error.hpp"
#include "tests/unit/libpopdist/train/batch_norm/batch_norm_job.h"

namespace popdist::train::testing {
namespace {

using ::testing::HasSubstr;

void expectError(ErrorCode code, const std::string& text, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "no error, expected: " << text;
  } catch (const popdist_error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(text));
  }
}

TEST(BatchNormErrors, NameTheOptionThatIsOutOfRange) {
  popdist::testing::ThreadGroup({.replicas_of_instance = {3, 3}}).run([](Context& context) {
    const auto refuses = [&](const BatchNormOptions& options, const char* text) {
      expectError(ErrorCode::kInvalidArgument, text, [&] { BatchNorm(context, options); });
    };
    refuses({.channels = 4, .span = 4},
            "span 4 does not divide the job's 6 replicas: take one of 1, 2, 3, 6");
    refuses({.channels = 4, .span = 0}, "span 0");
    refuses({.channels = 4, .span = 12}, "span 12");
    refuses({}, "channels is 0");
    refuses({.channels = 4, .epsilon = 0.0F}, "epsilon");
    refuses({.channels = 4, .momentum = 1.5F}, "momentum");
  });
}

TEST(BatchNormErrors, NameAnInstanceWithOtherOptions) {
  popdist::testing::ThreadGroup(2).run([](Context& context) {
    const std::size_t channels = context.instanceIndex() == 0 ? 4 : 8;
    expectError(ErrorCode::kFailedPrecondition, "channels is '4' on instance 0 and '8' on instance 1",
                [&] { BatchNorm(context, {.channels = channels, .span = 2}); });
  });
}

TEST(BatchNormErrors, NameBothCallsWhereInstancesAreInDifferentOnes) {
  Job job = jobOf({3, 2}, 2, true);
  popdist::testing::ThreadGroup(2).run([&](Context& context) {
    const std::span<Replica> local = localOf(job, context);
    BatchNorm layer(context, job.options);
    layer.forward(forwardOf(job, local));
    try {
      if (context.instanceIndex() == 0)
        layer.forward(forwardOf(job, local));
      else
        layer.backward(backwardOf(job, local));
      ADD_FAILURE() << "no error";
    } catch (const popdist_error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kFailedPrecondition) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("'BatchNorm forward 3'"));
      EXPECT_THAT(error.what(), HasSubstr("'BatchNorm backward 3'"));
    }
  });
}

TEST(BatchNormErrors, NameWhatDoesNotFitAndLeaveTheLayerUsable) {
  Job job = jobOf({3, 2}, 2, true);
  const Job expected = run(job, {1, 1});
  popdist::testing::ThreadGroup(2).run([&](Context& context) {
    const std::span<Replica> local = localOf(job, context);
    BatchNorm layer(context, job.options);
    const auto refuses = [&](const char* text, const std::function<void(BatchNormForward&)>& change) {
      std::vector<BatchNormForward> calls = forwardOf(job, local);
      change(calls[0]);
      expectError(ErrorCode::kInvalidArgument, text, [&] { layer.forward(calls); });
    };
    const Floats other(7, -1.0F);
    refuses("output has", [](auto& call) { call.output = call.output.first(3); });
    refuses("no multiple of the 3 channels", [&](auto& call) { call.input = other; });
    refuses("gamma has 7 elements, expected 3", [&](auto& call) { call.gamma = other; });
    refuses("7 weights do not divide", [&](auto& call) { call.weights = other; });
    refuses("a weight is -1", [&](auto& call) { call.weights = std::span(other).first(1); });
    refuses("saved is not set", [](auto& call) { call.saved = nullptr; });
    expectError(ErrorCode::kInvalidArgument, "each of the 1 local replicas, got 0",
                [&] { layer.forward({}); });
    expectError(ErrorCode::kInvalidArgument, "saved has 0 elements, expected 3",
                [&] { layer.backward(backwardOf(job, local)); });
    expectError(ErrorCode::kInvalidArgument, "no local replica 1, only 0 to 0",
                [&] { layer.runningMean(1); });
    layer.forward(forwardOf(job, local));
    layer.backward(backwardOf(job, local));
    keepRunning(layer, local);
  });
  EXPECT_TRUE(job.replicas == expected.replicas);
}

}  // namespace
}  // namespace popdist::train::testing
