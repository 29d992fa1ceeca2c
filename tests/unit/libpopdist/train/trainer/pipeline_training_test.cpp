// SPDX-License-Identifier: Apache-2.0
// A model in two stages, trained on replicas: as the same model in one step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "popdist/trainer.hpp"
#include "tests/testing/error_code_of.h"
#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::train {
namespace {

using popdist::testing::errorCodeOf;
using popdist::testing::ThreadGroup;

constexpr std::size_t kPipelineMicroBatch = 2;
constexpr int kPipelineSamples = 8;

/// x · w, and the labels for the next stage.
Stage product() {
  return {
      .name = "product",
      .parameters = {0},
      .outputs = {{"xw", Type::kFloat, {kPipelineMicroBatch}}, {"y", Type::kFloat, {kPipelineMicroBatch}}},
      .forward =
          [](Io& io) {
            const auto x = io.in("x");
            for (std::size_t i = 0; i < kPipelineMicroBatch; ++i) {
              float sum = 0;
              for (std::size_t j = 0; j < regression::kInputs; ++j)
                sum += io.par(0)[j] * x[i * regression::kInputs + j];
              io.out("xw")[i] = sum;
              io.out("y")[i] = io.in("y")[i];
            }
          },
      .backward =
          [](Io& io) {
            for (std::size_t i = 0; i < kPipelineMicroBatch; ++i)
              for (std::size_t j = 0; j < regression::kInputs; ++j)
                io.gradPar(0)[j] += io.gradOut("xw")[i] * io.in("x")[i * regression::kInputs + j];
          }};
}

/// + b, and the loss over the micro-batch; gradients of the mean over an update, times the loss scale.
Stage loss() {
  return {.name = "loss",
          .parameters = {1},
          .outputs = {{"loss", Type::kFloat, {}}},
          .forward =
              [](Io& io) {
                float sum = 0;
                for (std::size_t i = 0; i < kPipelineMicroBatch; ++i) {
                  const float error = io.in("xw")[i] + io.par(1)[0] - io.in("y")[i];
                  sum += 0.5F * error * error;
                }
                io.out("loss")[0] = sum;
              },
          .backward =
              [](Io& io) {
                for (std::size_t i = 0; i < kPipelineMicroBatch; ++i) {
                  const float error = io.in("xw")[i] + io.par(1)[0] - io.in("y")[i];
                  io.gradIn("xw")[i] = error / (kPipelineMicroBatch * kPipelineSamples) * io.lossScale();
                  io.gradPar(1)[0] += error / (kPipelineMicroBatch * kPipelineSamples) * io.lossScale();
                }
              }};
}

PipelineProgram program(ScheduleKind schedule, io::Outfeed* losses) {
  return {.pipeline = {.stages = {product(), loss()},
                       .parameters = regression::parameters().spec(),
                       .inputs = {{"x", Type::kFloat, {kPipelineMicroBatch, regression::kInputs}},
                                  {"y", Type::kFloat, {kPipelineMicroBatch}}},
                       .schedule = schedule,
                       .gradient_accumulation_count = kPipelineSamples,
                       .loss = "loss"},
          .outfeed = losses};
}

struct PipelineOutcome {
  std::vector<float> weights;
  double loss = 0;  ///< the evaluation's, over all replicas
};

std::vector<float> weightsOf(const Trainer& trainer) {
  std::vector<float> weights;
  for (const char* name : {"w", "b"}) {
    const auto values = trainer.parameters().get<float>(name);
    weights.insert(weights.end(), values.begin(), values.end());
  }
  return weights;
}

PipelineOutcome train(const std::vector<int>& replicas_of_instance, ScheduleKind schedule) {
  ThreadGroup group({.replicas_of_instance = replicas_of_instance});
  std::mutex mutex;
  PipelineOutcome outcome;
  group.run([&](Context& context) {
    PopDistStrategy strategy(context);
    io::Outfeed losses({.replicas = context.numLocalReplicas(), .buffer_depth = 64});
    Trainer trainer(strategy, regression::parameters(), program(schedule, &losses), adam({.rate = 0.05}));
    trainer.initialise(3);
    io::Infeed infeed(
        regression::samples().batch(kPipelineMicroBatch).repeat().forReplicas(io::InputContext::of(context)),
        {.replicas = context.numLocalReplicas()});
    const Progress progress = trainer.run(infeed, 2);
    EXPECT_EQ(progress.updates, 2U);
    EXPECT_EQ(progress.micro_batches,
              static_cast<std::uint64_t>(2 * kPipelineSamples * context.numTotalReplicas()));
    losses.dequeue();
    io::Infeed all = regression::feed(context, kPipelineMicroBatch);
    const Progress evaluated = trainer.evaluate(all);
    EXPECT_EQ(evaluated.micro_batches, regression::kSamples / kPipelineMicroBatch);
    double loss = 0;
    const Tensors sent = losses.dequeue();
    for (const float each : sent.get<float>("loss")) loss += static_cast<double>(each);
    strategy.reduce(std::span(&loss, 1));
    const std::lock_guard lock(mutex);
    outcome = {weightsOf(trainer), loss};
  });
  return outcome;
}

TEST(PipelineTraining, GivesTheWeightsOfOneStep) {
  Context& context = Context::fromEnvironment();
  SingleStrategy strategy(context);
  Trainer trainer(strategy, regression::parameters(),
                  [](const MicroBatch& batch) {
                    regression::addGradients(batch, 1.0F / (kPipelineMicroBatch * kPipelineSamples));
                  },
                  adam({.rate = 0.05}), {.accumulation = {.count = kPipelineSamples}, .metrics = {"loss"}});
  trainer.initialise(3);
  io::Infeed infeed = regression::feed(context, kPipelineMicroBatch);
  trainer.run(infeed, 2);
  const PipelineOutcome piped = train({1}, ScheduleKind::kGrouped);
  EXPECT_THAT(piped.weights, ::testing::Pointwise(::testing::FloatNear(1e-6F), weightsOf(trainer)));
  infeed.start();
  EXPECT_NEAR(piped.loss, trainer.evaluate(infeed).sum("loss"), 1e-3);
}

TEST(PipelineTraining, GivesTheSameBitsForEveryScheduleAndSplit) {
  const PipelineOutcome expected = train({4}, ScheduleKind::kGrouped);
  for (const ScheduleKind schedule : {ScheduleKind::kInterleaved, ScheduleKind::kSequential})
    EXPECT_THAT(train({4}, schedule).weights, ::testing::ElementsAreArray(expected.weights));
  EXPECT_THAT(train({2, 2}, ScheduleKind::kGrouped).weights, ::testing::ElementsAreArray(expected.weights));
}

TEST(PipelineTraining, AdvancesThePodsClock) {
  Context& context = Context::fromEnvironment();
  PopDistStrategy strategy(context);
  PipelineProgram timed = program(ScheduleKind::kSequential, nullptr);
  timed.pipeline.outfeed_mask = {true};
  timed.times =
      SimulationOptions{.stages = {{.forward = SimulatedTime(1000), .backward = SimulatedTime(3000)}}};
  Trainer trainer(strategy, regression::parameters(), timed, sgd(0.1));
  trainer.parametersOf(0);  // zeros
  io::Infeed infeed = regression::feed(context, kPipelineMicroBatch);
  trainer.run(infeed, 2);
  EXPECT_EQ(strategy.pod().time() - strategy.pod().collectiveTime(),
            SimulatedTime(2 * kPipelineSamples * 2 * 4000));
}

TEST(PipelineTraining, StagesSeeTheLossScaleThatTheTrainerDividesBy) {
  Context& context = Context::fromEnvironment();
  PipelineProgram silent = program(ScheduleKind::kGrouped, nullptr);
  silent.pipeline.outfeed_mask = {true};
  const auto train = [&](const LossScale& scale) {
    SingleStrategy strategy(context);
    Trainer trainer(strategy, regression::parameters(), silent, sgd(0.05), {.loss_scale = scale});
    trainer.initialise(3);
    io::Infeed infeed = regression::feed(context, kPipelineMicroBatch);
    EXPECT_EQ(trainer.run(infeed, 4).updates, 4U);
    return weightsOf(trainer);
  };
  const std::vector<float> expected = train({});
  // Powers of two round nothing.
  EXPECT_THAT(train({.initial = 1024}), ::testing::ElementsAreArray(expected));
  EXPECT_THAT(train({.initial = 64, .dynamic = true, .growth_interval = 2}),
              ::testing::ElementsAreArray(expected));
}

TEST(PipelineTraining, EvaluatesAnyNumberOfMicroBatches) {
  Context& context = Context::fromEnvironment();
  SingleStrategy strategy(context);
  io::Outfeed losses({.buffer_depth = 64});
  Trainer trainer(strategy, regression::parameters(), program(ScheduleKind::kGrouped, &losses), sgd(0.1));
  trainer.initialise(3);
  constexpr std::uint64_t kSteps = regression::kSamples / kPipelineMicroBatch;
  io::Infeed infeed = regression::feed(context, kPipelineMicroBatch);
  for (const std::uint64_t left : {5U, 1U, 0U}) {
    infeed.start({.step = kSteps - left});
    EXPECT_EQ(trainer.evaluate(infeed).micro_batches, left);
  }
  EXPECT_EQ(losses.dequeue().get<float>("loss").size(), 6U);
  infeed.start({.step = kSteps + 7});
  EXPECT_EQ(trainer.evaluate(infeed).micro_batches, 0U);
}

// More micro-batches than the outfeed holds: steps are whole only if the replicas go side by side.
TEST(PipelineTraining, SendsWholeStepsWhileItRuns) {
  ThreadGroup group({.replicas_of_instance = {2}});
  group.run([](Context& context) {
    PopDistStrategy strategy(context);
    io::Outfeed losses(
        {.replicas = 2, .buffer_depth = 2, .enqueue_timeout = std::chrono::milliseconds(3000)});
    Trainer trainer(strategy, regression::parameters(), program(ScheduleKind::kGrouped, &losses), sgd(0.1));
    trainer.initialise(3);
    io::Infeed infeed = regression::feed(context, kPipelineMicroBatch);
    std::size_t values = 0;
    std::atomic<bool> is_over{false};
    std::thread reader([&] {
      while (!is_over) {
        try {
          const Tensors some = losses.dequeue(std::chrono::milliseconds(10));
          if (some.size() > 0) values += some.get<float>("loss").size();
        } catch (const popdist_error&) {
          std::this_thread::yield();  // nothing has come yet
        }
      }
    });
    EXPECT_EQ(errorCodeOf([&] { trainer.run(infeed, 2); }), std::nullopt);
    is_over = true;
    reader.join();
    values += losses.dequeue().get<float>("loss").size();
    EXPECT_EQ(values, 2U * kPipelineSamples * 2);
  });
}

TEST(PipelineTraining, RefusesTwoTimesOfAnUpdate) {
  SingleStrategy strategy(Context::fromEnvironment());
  PipelineProgram timed = program(ScheduleKind::kSequential, nullptr);
  timed.times = SimulationOptions{.stages = {{.forward = SimulatedTime(1), .backward = SimulatedTime(3)}}};
  const auto code = [&](const PipelineProgram& program, double flops) {
    return errorCodeOf([&] {
      Trainer(strategy, regression::parameters(), program, sgd(1), {.flops_per_micro_batch = flops});
    });
  };
  EXPECT_EQ(code(timed, 0), std::nullopt);
  EXPECT_EQ(code(timed, 1e6), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(program(ScheduleKind::kSequential, nullptr), 1e6), std::nullopt);
}

TEST(PipelineTraining, RefusesAccumulationAndMetricsOfItsOwn) {
  SingleStrategy strategy(Context::fromEnvironment());
  const auto code = [&](const TrainerOptions& options) {
    return errorCodeOf([&] {
      Trainer(strategy, regression::parameters(), program(ScheduleKind::kGrouped, nullptr), sgd(1), options);
    });
  };
  EXPECT_EQ(code({}), std::nullopt);
  EXPECT_EQ(code({.accumulation = {.count = 2}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.accumulation = {.reduction = Reduction::kMean}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.metrics = {"loss"}}), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace popdist::train
