// SPDX-License-Identifier: Apache-2.0
// The loop: what it refuses, what evaluations leave alone, what it counts.
#include "popdist/trainer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "tests/testing/error_code_of.h"
#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::train {
namespace {

using popdist::testing::errorCodeOf;

class TrainerTest : public ::testing::Test {
 protected:
  Trainer make(const TrainerOptions& options, Optimizer optimizer = sgd(0.01)) {
    return Trainer(
        strategy, regression::parameters(),
        [](const MicroBatch& batch) { regression::addGradients(batch, 1); }, std::move(optimizer), options);
  }

  Context& context = Context::fromEnvironment();
  SingleStrategy strategy{context};
};

TEST_F(TrainerTest, EvaluationsChangeNothingAndSeeThePassOnce) {
  Trainer trainer = make({.metrics = {"loss"}}, adam({}));
  trainer.initialise(1);
  io::Infeed infeed = regression::feed(context, 8);
  trainer.run(infeed, 3);
  const std::vector<float> before(trainer.parameters().get<float>("w").begin(),
                                  trainer.parameters().get<float>("w").end());
  std::vector<std::byte> state;
  for (const Piece& piece : trainer.weightUpdate().state())
    state.insert(state.end(), piece.bytes.begin(), piece.bytes.end());
  io::Infeed all = regression::feed(context, 8);
  const Progress first = trainer.evaluate(all);
  all.start();
  const Progress second = trainer.evaluate(all);
  EXPECT_EQ(first.micro_batches, regression::kSamples / 8);
  EXPECT_EQ(first.updates, 0U);
  EXPECT_EQ(first.sum("loss"), second.sum("loss"));
  EXPECT_THAT(trainer.parameters().get<float>("w"), ::testing::ElementsAreArray(before));
  std::vector<std::byte> state_after;
  for (const Piece& piece : trainer.weightUpdate().state())
    state_after.insert(state_after.end(), piece.bytes.begin(), piece.bytes.end());
  EXPECT_EQ(state_after, state);
  EXPECT_EQ(trainer.updatesDone(), 3U);
  EXPECT_EQ(trainer.run(infeed, 1).updates, 1U);
}

TEST_F(TrainerTest, GivesEvaluationsGradientsOfTheParametersTypes) {
  SingleStrategy single(Context::fromEnvironment());
  Trainer trainer(single, regression::parameters(),
                  [](const MicroBatch& batch) {
                    for (float& each : batch.gradients.get<float>("w")) each += batch.training ? 0.5F : 1e9F;
                  },
                  castGradients(sgd(0.1)), {.accumulation = {.count = 2, .type = Type::kHalf}});
  trainer.initialise(1);
  io::Infeed infeed(regression::samples().batch(8));
  const float before = trainer.parameters().get<float>("w")[0];
  EXPECT_EQ(trainer.evaluate(infeed).micro_batches, regression::kSamples / 8);
  infeed.start();
  trainer.run(infeed, 1);
  EXPECT_NEAR(trainer.parameters().get<float>("w")[0], before - 0.1F, 1e-6F) << "only of the training";
}

TEST_F(TrainerTest, LearnsTheFunction) {
  Trainer trainer = make({.metrics = {"loss"}}, adam({.rate = 0.1}));
  trainer.initialise(1);
  io::Infeed infeed = regression::feed(context, 8);
  double loss = 0;
  for (std::uint64_t epoch = 0; epoch < 40; ++epoch) {
    infeed.start({.epoch = epoch});
    loss = trainer.run(infeed, regression::kSamples / 8).meanOfMicroBatches("loss");
  }
  EXPECT_LT(loss, 1e-3);
}

TEST_F(TrainerTest, SaysWhereTheInfeedEnds) {
  Trainer trainer = make({.accumulation = {.count = 5}, .metrics = {"loss"}});
  trainer.initialise(1);
  io::Infeed infeed = regression::feed(context, 8);
  EXPECT_EQ(errorCodeOf([&] { trainer.run(infeed, 3); }), ErrorCode::kOutOfRange);
}

TEST_F(TrainerTest, RefusesWhatMakesNoSense) {
  EXPECT_EQ(errorCodeOf([&] { make({.accumulation = {.count = 0}}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { make({.accumulation = {.type = Type::kBool}}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { make({.accumulation = {.type = Type::kHalf}}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { make({.accumulation = {.type = Type::kHalf}}, castGradients(sgd(1))); }),
            std::nullopt);
  EXPECT_EQ(errorCodeOf([&] { make({.replicas_per_optimizer_state = 3}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { make({}, Optimizer{}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] {
              Trainer(
                  strategy, Parameters(), [](const MicroBatch&) {}, sgd(1));
            }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { Trainer(strategy, regression::parameters(), Step(), sgd(1)); }),
            ErrorCode::kInvalidArgument);
}

TEST_F(TrainerTest, HearsOfGradientsOnceEach) {
  Trainer trainer(
      strategy, regression::parameters(),
      [](const MicroBatch& batch) {
        batch.ready(0);
        batch.ready(0);
      },
      sgd(1));
  trainer.initialise(1);
  io::Infeed infeed = regression::feed(context, 8);
  EXPECT_EQ(errorCodeOf([&] { trainer.run(infeed, 1); }), ErrorCode::kFailedPrecondition);
}

TEST_F(TrainerTest, PassesOnWhatTheStepThrows) {
  Trainer trainer(
      strategy, regression::parameters(),
      [](const MicroBatch&) { throw std::runtime_error("no such label"); }, sgd(1));
  trainer.initialise(1);
  io::Infeed infeed = regression::feed(context, 8);
  EXPECT_THROW(trainer.run(infeed, 1), std::runtime_error);
}

TEST_F(TrainerTest, SaysWhereTheTimeWent) {
  Trainer trainer = make({.metrics = {"loss"}});
  trainer.initialise(1);
  io::Infeed infeed = regression::feed(context, 8);
  const Times times = trainer.run(infeed, 5).seconds;
  EXPECT_GT(times.input, 0);
  EXPECT_GT(times.step, 0);
  EXPECT_GT(times.update, 0);
  EXPECT_GE(times.all, times.input + times.step + times.reduction + times.update - 1e-9);
  EXPECT_LE(times.all, 1.01 * (times.input + times.step + times.reduction + times.update));
}

TEST_F(TrainerTest, NamesMetricsThatThereAre) {
  Trainer trainer = make({.metrics = {"loss"}});
  trainer.initialise(1);
  io::Infeed infeed = regression::feed(context, 8);
  const Progress progress = trainer.run(infeed, 1);
  EXPECT_EQ(errorCodeOf([&] { progress.sum("accuracy"); }), ErrorCode::kNotFound);
}

TEST_F(TrainerTest, WantsItsParametersToHaveValues) {
  io::Infeed infeed = regression::feed(context, 8);
  Trainer trainer = make({.metrics = {"loss"}});
  EXPECT_EQ(errorCodeOf([&] { trainer.run(infeed, 1); }), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(errorCodeOf([&] { trainer.evaluate(infeed); }), ErrorCode::kFailedPrecondition);
  trainer.parametersOf(0).get<float>("w")[0] = 1;  // by hand
  EXPECT_EQ(trainer.run(infeed, 1).updates, 1U);
}

TEST_F(TrainerTest, CanOnlyBeAskedForParametersAfterARunThatHasFailed) {
  bool fails = true;
  Trainer trainer(strategy, regression::parameters(),
                  [&](const MicroBatch& batch) {
                    if (fails) throw std::runtime_error("no such label");
                    regression::addGradients(batch, 1);
                  },
                  sgd(0.01), {.metrics = {"loss"}});
  trainer.initialise(1);
  io::Infeed infeed = regression::feed(context, 8);
  EXPECT_THROW(trainer.run(infeed, 1), std::runtime_error);
  fails = false;
  EXPECT_EQ(errorCodeOf([&] { trainer.run(infeed, 1); }), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(errorCodeOf([&] { trainer.evaluate(infeed); }), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(errorCodeOf([&] { trainer.initialise(1); }), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(trainer.parameters().get<float>("b")[0], 0.25F);
}

TEST_F(TrainerTest, SaysThatItIsInARunWhereItsStepCallsIt) {
  Trainer* itself = nullptr;
  io::Infeed infeed = regression::feed(context, 8);
  Trainer trainer(strategy, regression::parameters(), [&](const MicroBatch&) { itself->run(infeed, 1); },
                  sgd(0.1), {});
  itself = &trainer;
  trainer.initialise(1);
  try {
    trainer.run(infeed, 1);
    ADD_FAILURE() << "no error";
  } catch (const popdist_error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kFailedPrecondition);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("is in a run"));
  }
}

TEST_F(TrainerTest, RefusesAnInfeedOfOtherReplicas) {
  Trainer trainer = make({.metrics = {"loss"}});
  trainer.initialise(1);
  io::Infeed two(regression::samples().batch(4), {.replicas = 2});
  EXPECT_EQ(errorCodeOf([&] { trainer.run(two, 1); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { trainer.evaluate(two); }), ErrorCode::kInvalidArgument);
  io::Infeed one = regression::feed(context, 8);
  EXPECT_EQ(trainer.run(one, 1).updates, 1U) << "nothing had begun";
}

TEST_F(TrainerTest, RefusesARateThatIsNoneAtTheUpdateThatWouldUseIt) {
  const LearningRate rate([](std::uint64_t done) { return done < 2 ? 0.01 : std::nan(""); });
  Trainer trainer = make({.metrics = {"loss"}}, sgd(rate));
  trainer.initialise(1);
  io::Infeed infeed = regression::feed(context, 8);
  trainer.run(infeed, 2);
  EXPECT_EQ(errorCodeOf([&] { trainer.run(infeed, 1); }), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(std::isfinite(trainer.parameters().get<float>("w")[0]));
}

TEST_F(TrainerTest, RefusesNumbersThatAreNone) {
  Trainer trainer = make({.accumulation = {.count = 4}, .metrics = {"loss"}});
  trainer.initialise(1);
  io::Infeed infeed = regression::feed(context, 8);
  const Progress nothing = trainer.run(infeed, 0);
  EXPECT_TRUE(std::isnan(nothing.meanOfMicroBatches("loss")));
  EXPECT_EQ(trainer.samplesPerUpdate(8), 32);
  EXPECT_EQ(errorCodeOf([&] { trainer.samplesPerUpdate(1 << 30); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { trainer.parametersOf(7); }), ErrorCode::kOutOfRange);
  EXPECT_EQ(errorCodeOf([&] { trainer.parametersOf(-1); }), ErrorCode::kOutOfRange);
  EXPECT_EQ(errorCodeOf([&] { make({.metrics = {"loss", "loss"}}); }), ErrorCode::kInvalidArgument);
}

/// The times of a Pod's clock, after `updates` updates of adam on 2 replicas with 2 micro-batches each.
Pod::Times podTimes(const MemoryPlanOptions& memory, std::uint64_t updates, int replicas_per_state = 2) {
  Pod::Times times;
  popdist::testing::ThreadGroup group({.replicas_of_instance = {1, 1}});
  group.run([&](Context& of_thread) {
    PopDistStrategy pods(of_thread);
    Parameters parameters = regression::parameters();
    parameters.add("large", {1000, 100});
    Trainer trainer(pods, parameters, [](const MicroBatch& batch) { regression::addGradients(batch, 1); },
                    adam({}),
                    {.accumulation = {.count = 2},
                     .replicas_per_optimizer_state = replicas_per_state,
                     .metrics = {"loss"},
                     .memory = memory});
    trainer.initialise(1);
    io::Infeed infeed = regression::feed(of_thread, 2);
    trainer.run(infeed, updates);
    const Pod::Times after = pods.pod().times();
    io::Infeed test = regression::feed(of_thread, 2);
    trainer.evaluate(test);
    EXPECT_EQ(pods.pod().times().streaming, after.streaming) << "an evaluation touches no state";
    if (after.streaming.count() > 0) {
      // Two moments in parts, in and out; tensors below 128 bytes a part stay.
      EXPECT_EQ(trainer.memoryPlan().streamed_per_update,
                2U * 2 * 100'000 * 4 / static_cast<unsigned>(replicas_per_state));
    }
    if (of_thread.instanceIndex() == 0) times = after;
  });
  return times;
}

TEST(Trainer, GivesEvaluationsGradientsOfTheParametersTypes) {
  SingleStrategy strategy(Context::fromEnvironment());
  Trainer trainer(strategy, regression::parameters(),
                  [](const MicroBatch& batch) {
                    for (float& each : batch.gradients.get<float>("w")) each += batch.training ? 0.5F : 1e9F;
                  },
                  castGradients(sgd(0.1)), {.accumulation = {.count = 2, .type = Type::kHalf}});
  trainer.initialise(1);
  io::Infeed infeed(regression::samples().batch(8));
  const float before = trainer.parameters().get<float>("w")[0];
  EXPECT_EQ(trainer.evaluate(infeed).micro_batches, regression::kSamples / 8);
  infeed.start();
  trainer.run(infeed, 1);
  EXPECT_NEAR(trainer.parameters().get<float>("w")[0], before - 0.1F, 1e-6F) << "only of the training";
}

TEST(TrainerOnAPod, StreamsOffloadedStateInEachUpdate) {
  const Pod::Times one = podTimes({.streaming_bytes_per_s = 1'000'000'000}, 1);
  EXPECT_EQ(one.streaming, std::chrono::microseconds(800)) << "auto: gradients are accumulated";
  EXPECT_EQ(podTimes({.streaming_bytes_per_s = 1'000'000'000}, 3).streaming, 3 * one.streaming);
  const Offload on = Offload::kOn;
  EXPECT_GT(podTimes({.offload_weight_update_variables = on}, 1, 1).streaming,
            podTimes({.offload_weight_update_variables = on}, 1, 2).streaming);
  EXPECT_EQ(podTimes({.offload_weight_update_variables = Offload::kOff}, 1).streaming.count(), 0);
  EXPECT_EQ(podTimes({.remote_buffers = false}, 1).streaming.count(), 0);
}

TEST(TrainerOnAPod, CountsWhatSharingExchanges) {
  const Pod::Times shared = podTimes({}, 1);
  EXPECT_GT(shared.reduce_scatter.count(), 0);
  EXPECT_GT(shared.all_gather.count(), 0);
  EXPECT_EQ(shared.all_reduce.count(), 0);
  const Pod::Times each = podTimes({}, 1, 1);
  EXPECT_EQ(each.all_reduce, shared.reduce_scatter + shared.all_gather);
  EXPECT_EQ(each.all_gather.count(), 0);
}

TEST_F(TrainerTest, OffloadWithoutRemoteBuffersNamesTheKnob) {
  try {
    make({.memory = {.offload_weight_update_variables = Offload::kOn, .remote_buffers = false}});
    FAIL() << "accepted";
  } catch (const popdist_error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("offload_weight_update_variables"));
  }
}

}  // namespace
}  // namespace popdist::train
