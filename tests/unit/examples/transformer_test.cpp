// SPDX-License-Identifier: Apache-2.0
// The example's transformer: its gradients beside differences of losses; the same weights for every schedule,
// recomputation and split; and that it learns.
#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include "examples/char_transformer/model.h"
#include "examples/char_transformer/text.h"
#include "examples/char_transformer/writer.h"
#include "tests/testing/thread_group.h"
#include "tests/unit/examples/differences.h"

namespace {

namespace io = popdist::io;
namespace train = popdist::train;

constexpr std::size_t kSequences = 2;
constexpr int kCount = 8;

TransformerShape tiny(bool tied = false) {
  return {.characters = 5, .context = 6, .blocks = 6, .width = 8, .heads = 2, .tied = tied};
}

/// 0 1 2 3 4 0 1 2 …
std::vector<std::uint8_t> counting(std::size_t length) {
  std::vector<std::uint8_t> text(length);
  for (std::size_t i = 0; i < length; ++i) text[i] = static_cast<std::uint8_t>(i % 5);
  return text;
}

struct Way {
  train::ScheduleKind schedule = train::ScheduleKind::kGrouped;
  bool recompute = false;
  train::RecomputeMode mode = train::RecomputeMode::kAuto;
  bool tied = false;
};

train::PipelineOptions pipelineOf(const Transformer& model, const Way& way) {
  train::PipelineOptions options{
      .stages = model.trainingStages(kSequences, 1.0F / static_cast<float>(kSequences * kCount * 6))};
  options.parameters = model.parameters().spec();
  options.inputs = {{"text", popdist::Type::kUint8, {kSequences, 7}}};
  if (way.tied) options.device_mapping = {0, 1, 2, 0};
  options.schedule = way.schedule;
  options.gradient_accumulation_count = kCount;
  options.recompute = way.recompute;
  options.recompute_mode = way.mode;
  options.loss = "loss";
  return options;
}

double lossIn(io::Outfeed& outfeed) {
  double loss = 0;
  const popdist::Tensors sent = outfeed.dequeue();
  for (const float each : sent.get<float>("loss")) loss += static_cast<double>(each);
  return loss;
}

class Models : public ::testing::TestWithParam<bool> {};

TEST_P(Models, HaveTheGradientsOfTheirLosses) {
  const Transformer model(tiny(GetParam()), bestIsa());
  train::Pipeline pipeline(pipelineOf(model, {.tied = GetParam()}));
  popdist::Tensors values(model.parameters().spec()), gradients(model.parameters().spec());
  model.parameters().initialise(values.refs(), 1);
  // Larger than at the start of a training, so that every gradient is.
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (float& each : values.get<float>(i)) each = each == 1.0F ? each : 12.0F * each;
  }
  io::Infeed infeed(windowsOf(counting(40), 6).batch(kSequences));
  io::Outfeed outfeed({.buffer_depth = kCount});
  pipeline.run(values, gradients.refs(), {.infeed = &infeed, .outfeed = &outfeed},
               [](std::uint64_t, popdist::ConstTensorRefs) {});
  outfeed.dequeue();
  const auto loss = [&] {
    infeed.start();
    pipeline.evaluate(values, {.infeed = &infeed, .outfeed = &outfeed}, kCount);
    return lossIn(outfeed) / (kSequences * kCount * 6);
  };
  for (const std::size_t tensor : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{4},
                                   std::size_t{30}, values.size() - 2, values.size() - 1})
    expectGradient(values.get<float>(tensor), gradients.get<float>(tensor), loss, values.spec()[tensor].name,
                   2e-3F);
}
INSTANTIATE_TEST_SUITE_P(CharTransformer, Models, ::testing::Bool(),
                         [](const auto& each) { return each.param ? "Tied" : "Untied"; });

std::vector<float> weightsAfter(const std::vector<int>& replicas_of_instance, const Way& way) {
  popdist::testing::ThreadGroup group({.replicas_of_instance = replicas_of_instance});
  std::mutex mutex;
  std::vector<float> weights;
  group.run([&](popdist::Context& context) {
    const Transformer model(tiny(way.tied), bestIsa());
    train::PopDistStrategy strategy(context);
    io::Outfeed outfeed({.replicas = context.numLocalReplicas(), .buffer_depth = 3 * kCount});
    train::Trainer trainer(strategy, model.parameters(),
                           train::PipelineProgram{.pipeline = pipelineOf(model, way), .outfeed = &outfeed},
                           train::chain(train::clipByGlobalNorm(1), train::adamw({.rate = 0.01})),
                           {.replicas_per_optimizer_state = strategy.numReplicas()});
    trainer.initialise(3);
    io::Infeed infeed(windowsOf(counting(100), 6)
                          .shuffle(1)
                          .batch(kSequences)
                          .repeat()
                          .forReplicas(io::InputContext::of(context)),
                      {.replicas = context.numLocalReplicas()});
    trainer.run(infeed, 3);
    const std::lock_guard lock(mutex);
    weights.clear();
    for (std::size_t i = 0; i < trainer.parameters().size(); ++i) {
      const auto values = trainer.parameters().get<float>(i);
      weights.insert(weights.end(), values.begin(), values.end());
    }
  });
  return weights;
}

TEST(CharTransformer, HasTheSameWeightsForEveryScheduleRecomputationAndSplit) {
  using enum train::ScheduleKind;
  using enum train::RecomputeMode;
  const std::vector<float> expected = weightsAfter({2}, {});
  EXPECT_EQ(weightsAfter({2}, {.schedule = kInterleaved}), expected);
  EXPECT_EQ(weightsAfter({2}, {.schedule = kSequential, .recompute = true}), expected);
  EXPECT_EQ(weightsAfter({2}, {.recompute = true, .mode = kThenBackpropagate}), expected);
  EXPECT_EQ(weightsAfter({2}, {.recompute = true, .mode = kAndBackpropagateInterleaved}), expected);
  EXPECT_EQ(weightsAfter({1, 1}, {}), expected);
  const std::vector<float> tied = weightsAfter({2}, {.tied = true});
  EXPECT_EQ(tied.size() + 5 * 8, expected.size());
  EXPECT_EQ(weightsAfter({1, 1}, {.schedule = kSequential, .tied = true}), tied);
}

TEST(CharTransformer, LearnsWhatFollowsAndWritesIt) {
  popdist::Context& context = popdist::Context::fromEnvironment();
  const Transformer model(tiny(), bestIsa());
  train::SingleStrategy strategy(context);
  io::Outfeed outfeed({.buffer_depth = 100 * kCount});
  train::Trainer trainer(strategy, model.parameters(),
                         train::PipelineProgram{.pipeline = pipelineOf(model, {}), .outfeed = &outfeed},
                         train::adamw({.rate = 0.01}));
  trainer.initialise(3);
  io::Infeed infeed(windowsOf(counting(100), 6).shuffle(1).batch(kSequences).repeat());
  trainer.run(infeed, 1);
  EXPECT_NEAR(lossIn(outfeed) / (kSequences * kCount * 6), std::log(5.0), 0.1);
  trainer.run(infeed, 100);
  outfeed.dequeue();
  trainer.run(infeed, 1);
  EXPECT_LT(lossIn(outfeed) / (kSequences * kCount * 6), 0.05);
  const std::vector<std::uint8_t> expected{3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3};
  EXPECT_EQ(write(model, trainer.parameters(), {2}, {.count = 11, .temperature = 0}), expected);
  const WriterOptions hot{.count = 50, .temperature = 30, .seed = 1};
  const auto once = write(model, trainer.parameters(), {2}, hot);
  EXPECT_EQ(write(model, trainer.parameters(), {2}, hot), once);
  EXPECT_NE(write(model, trainer.parameters(), {2}, {.count = 50, .temperature = 30, .seed = 2}), once);
}

TEST(CharTransformer, RefusesShapesThatCannotBe) {
  TransformerShape shape = tiny();
  shape.heads = 3;
  EXPECT_THROW(Transformer(shape, bestIsa()), std::runtime_error);
  shape = tiny();
  shape.blocks = 3;
  EXPECT_THROW(Transformer(shape, bestIsa()), std::runtime_error);
}

}  // namespace
