// SPDX-License-Identifier: Apache-2.0
// A real model in a pipeline has the bits of the same model without one, whatever the schedule, the mapping
// and recomputation; and its gradients are those of the loss.
#include "tests/unit/libpopdist/train/pipeline/mlp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace popdist::train {
namespace {

using testing::mlp;

constexpr int kCount = 16;
constexpr int kSteps = 3;
constexpr float kRate = 0.05F;

Tensors initialValues() {
  Tensors values(testing::mlpParameters().spec());
  testing::mlpParameters().initialise(values.refs(), 7);
  return values;
}

Tensors scaleOf(float scale) {
  return Tensors(Tensor::full("scale", {}, scale));
}

struct Trained {
  Tensors values;
  Tensors gradients;  // the last step's
  std::vector<float> losses;
};

Trained trainUnpipelined() {
  Trained result{initialValues(), Tensors(testing::mlpParameters().spec()), {}};
  io::Infeed infeed(testing::samples());
  testing::Unpipelined model;
  for (int step = 0; step < kSteps; ++step) {
    result.gradients = Tensors(testing::mlpParameters().spec());
    for (int i = 0; i < kCount; ++i)
      result.losses.push_back(model.add(*infeed.next(), 0.5F, result.values, result.gradients.refs()));
    testing::descend(result.values, result.gradients, kRate);
  }
  return result;
}

Trained trainPipelined(PipelineOptions options) {
  options.outfeed_loss = true;
  Trained result{initialValues(), Tensors(options.parameters), {}};
  Pipeline pipeline(std::move(options));
  io::Infeed infeed(testing::samples());
  io::Outfeed outfeed({.buffer_depth = kCount * kSteps});
  const Tensors arguments = scaleOf(0.5F);
  pipeline.run(
      result.values, result.gradients.refs(),
      {.infeed = &infeed, .outfeed = &outfeed, .arguments = &arguments},
      [&](std::uint64_t, ConstTensorRefs) { testing::descend(result.values, result.gradients, kRate); },
      {.repeat_count = kSteps});
  for (const Tensors& step : outfeed) result.losses.push_back(step.get<float>("loss")[0]);
  return result;
}

void expectSameBits(const Tensors& actual, const Tensors& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(std::memcmp(actual.at(i).bytes().data(), expected.at(i).bytes().data(),
                          expected.at(i).bytes().size()),
              0)
        << expected.spec()[i].name;
}

void expectSame(const Trained& actual, const Trained& expected) {
  expectSameBits(actual.values, expected.values);
  expectSameBits(actual.gradients, expected.gradients);
  EXPECT_EQ(actual.losses, expected.losses);
}

TEST(PipelinedMlp, HasTheBitsOfTheModelWithoutAPipeline) {
  const Trained expected = trainUnpipelined();
  for (const ScheduleKind kind :
       {ScheduleKind::kGrouped, ScheduleKind::kInterleaved, ScheduleKind::kSequential}) {
    for (const bool recompute : {false, true}) {
      PipelineOptions options = mlp(kind, kCount);
      options.recompute = recompute;
      expectSame(trainPipelined(options), expected);
    }
  }
}

TEST(PipelinedMlp, HasTheSameBitsOnFewerIpus) {
  const Trained expected = trainUnpipelined();
  for (const ScheduleKind kind : {ScheduleKind::kGrouped, ScheduleKind::kSequential}) {
    for (const DeviceMapping& mapping :
         {DeviceMapping{0, 1, 1, 0}, DeviceMapping{0, 0, 0, 0}, DeviceMapping{2, 0, 1, 0}}) {
      for (const bool recompute : {false, true}) {
        PipelineOptions options = mlp(kind, kCount);
        options.device_mapping = mapping;
        options.recompute = recompute;
        expectSame(trainPipelined(options), expected);
      }
    }
  }
}

TEST(PipelinedMlp, HasTheGradientsOfItsLoss) {
  const int count = 8;
  PipelineOptions options = mlp(ScheduleKind::kGrouped, count);
  options.outfeed_loss = true;
  Pipeline pipeline(options);
  const Tensors arguments = scaleOf(1);
  Tensors values = initialValues();
  Tensors gradients(options.parameters);
  io::Infeed infeed(testing::samples());
  io::Outfeed outfeed({.buffer_depth = count});
  const auto lossOf = [&] {
    infeed.start();
    pipeline.evaluate(values, {.infeed = &infeed, .outfeed = &outfeed, .arguments = &arguments}, count);
    double loss = 0;
    for (const Tensors& step : outfeed) loss += step.get<float>("loss")[0];
    return loss;
  };
  pipeline.run(values, gradients.refs(), {.infeed = &infeed, .outfeed = &outfeed, .arguments = &arguments},
               [](std::uint64_t, ConstTensorRefs) {});
  outfeed.dequeue();
  int checked = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = 0; j < values.get<float>(i).size(); j += 3, ++checked) {
      float& value = values.get<float>(i)[j];
      const float before = value;
      constexpr float kStep = 1e-3F;
      value = before + kStep;
      const double above = lossOf();
      value = before - kStep;
      const double below = lossOf();
      value = before;
      EXPECT_NEAR(gradients.get<float>(i)[j], (above - below) / (2 * kStep), 0.02)
          << options.parameters[i].name << j;
    }
  }
  EXPECT_GT(checked, 30);
}

TEST(PipelinedMlp, RecomputationStoresLessAndTakesLonger) {
  for (const ScheduleKind kind : {ScheduleKind::kGrouped, ScheduleKind::kInterleaved}) {
    PipelineOptions options = mlp(kind, kCount);
    Pipeline without(options);
    options.recompute = true;
    Pipeline with(options);
    EXPECT_LT(with.storedBytes(), without.storedBytes());
    EXPECT_EQ(with.storedBytes(false), without.storedBytes());
    EXPECT_EQ(with.storedBytes(), without.storedBytes(true));
    const SimulationOptions times{.stages = {{SimulatedTime(1000), SimulatedTime(2000)}}};
    EXPECT_GT(with.simulatedTime(times), without.simulatedTime(times));
  }
  Pipeline grouped(mlp(ScheduleKind::kGrouped, kCount));
  Pipeline interleaved(mlp(ScheduleKind::kInterleaved, kCount));
  EXPECT_LT(interleaved.storedBytes(), grouped.storedBytes());
}

TEST(PipelinedMlp, EvaluatesWithoutTouchingGradients) {
  PipelineOptions options = mlp(ScheduleKind::kInterleaved, kCount);
  options.recompute = true;
  Pipeline pipeline(options);
  const Tensors values = initialValues();
  const Tensors arguments = scaleOf(1);
  io::Infeed infeed(testing::samples());
  io::Outfeed outfeed({.buffer_depth = 8});
  pipeline.evaluate(values, {.infeed = &infeed, .outfeed = &outfeed, .arguments = &arguments}, 8);
  infeed.start();
  testing::Unpipelined model;
  Tensors ignored(options.parameters);
  int steps = 0;
  for (const Tensors& step : outfeed) {
    EXPECT_EQ(step.get<float>("loss")[0], model.add(*infeed.next(), 1, values, ignored.refs()));
    EXPECT_EQ(step.refs().shape("probability"), (Shape{testing::kRows, testing::kClasses}));
    ++steps;
  }
  EXPECT_EQ(steps, 8);
}

}  // namespace
}  // namespace popdist::train
