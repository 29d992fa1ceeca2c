// SPDX-License-Identifier: Apache-2.0
// Stages' inputs, outputs and the time of their calls, and the update's input.
#include "popdist/pipeline.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "tests/unit/libpopdist/train/pipeline/stages.h"

namespace popdist::train {
namespace {

using testing::adding;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::last;
using testing::optionsOf;
using testing::Runner;

constexpr ScheduleKind kPipelineKinds[] = {ScheduleKind::kGrouped, ScheduleKind::kInterleaved,
                                           ScheduleKind::kSequential};

TEST(Pipeline, HandsOutputsToTheNextStage) {
  for (const ScheduleKind kind : kPipelineKinds) {
    PipelineOptions options = optionsOf({adding("a", 10), adding("b", 100), last()}, 6);
    options.schedule = kind;
    Runner runner(std::move(options));
    runner.run();
    EXPECT_THAT(runner.came(), ElementsAre(110, 111, 112, 113, 114, 115));
  }
}

TEST(Pipeline, UpdatesOncePerRunAndRepeatsRuns) {
  Runner runner(optionsOf({adding("a", 1), last()}, 4));
  runner.run({.repeat_count = 3, .first_step = 5});
  EXPECT_THAT(runner.steps, ElementsAre(5, 6, 7));
  EXPECT_EQ(runner.came().size(), 12U);
}

TEST(Pipeline, GivesTheUpdateTheLastOutputs) {
  Runner runner(optionsOf({adding("a", 1), last()}, 4));
  std::vector<float> sums;
  runner.pipeline.run(
      runner.values, runner.gradients.refs(), runner.feeds(),
      [&](std::uint64_t, ConstTensorRefs outputs) { sums.push_back(outputs.get<float>("sum")[0]); },
      {.repeat_count = 2});
  EXPECT_THAT(sums, ElementsAre(4, 8));
}

// A rate changes from run to run: the first stage reads it as an input, every stage as an argument.
TEST(Pipeline, ReadsRunArgumentsOnceForEachRun) {
  Stage first{.name = "first",
              .outputs = {{"y", Type::kFloat, {}}, {"rate", Type::kFloat, {}}},
              .forward =
                  [](Io& io) {
                    io.out("y")[0] = io.in("x")[0];
                    io.out("rate")[0] = io.in("rate")[0];
                  },
              .backward = [](Io&) {}};
  Stage second{.name = "second",
               .outputs = {{"sum", Type::kFloat, {}}},
               .forward =
                   [](Io& io) {
                     EXPECT_EQ(io.in("rate")[0], io.argument("rate")[0]);
                     io.out("sum")[0] = io.in("y")[0] * io.in("rate")[0];
                   },
               .backward = [](Io&) {}};
  PipelineOptions options = optionsOf({first, second}, 4);
  options.arguments = {{"rate", Type::kFloat, {}}};
  Runner runner(std::move(options));
  runner.arguments = Tensors(Tensor::full("rate", {}, 2.0F));
  runner.run();
  EXPECT_THAT(runner.came(), ElementsAre(0, 2, 4, 6));
  runner.arguments->get<float>(0)[0] = 10;
  runner.run();
  EXPECT_THAT(runner.came(), ElementsAre(40, 50, 60, 70));
}

TEST(Pipeline, RunsStagesSideBySideOnTheSameInputsAndAddsTheirGradients) {
  for (const ScheduleKind kind : kPipelineKinds) {
    float gradient = 0;
    Stage first = adding("first", 0);
    first.backward = [&](Io& io) { gradient = io.gradOut("x")[0]; };
    Stage b = adding("b", 10, "x", "b0"), c = adding("c", 100, "x", "c0");
    c.backward = [](Io& io) { io.gradIn("x")[0] = 5 * io.gradOut("c0")[0]; };
    PipelineOptions options = optionsOf({first, {b, c}, last({"b0", "c0"})}, 6);
    options.device_mapping = {0, {1, 2}, 3};
    options.schedule = kind;
    Runner runner(std::move(options));
    runner.run();
    EXPECT_THAT(runner.came(), ElementsAre(110, 112, 114, 116, 118, 120));
    EXPECT_EQ(gradient, 6);
  }
}

// y = w x, and a last stage y = w x w, which share w.
PipelineOptions tied(ScheduleKind kind) {
  const auto multiplying = [](const std::string& name, const std::string& from, const std::string& to) {
    return Stage{.name = name,
                 .parameters = {0},
                 .outputs = {{to, Type::kFloat, {}}},
                 .forward = [=](Io& io) { io.out(to)[0] = io.in(from)[0] * io.par(0)[0]; },
                 .backward =
                     [=](Io& io) {
                       const float dy = to == "sum" ? 0.1F : io.gradOut(to)[0];
                       io.gradPar(0)[0] += dy * io.in(from)[0];
                       if (const auto dx = io.gradIn(from); !dx.empty()) dx[0] = dy * io.par(0)[0];
                     }};
  };
  PipelineOptions options = optionsOf(
      {multiplying("first", "x", "x"), adding("a", 0.3F), adding("b", 0.7F), multiplying("last", "x", "sum")},
      16);
  options.parameters = {{"w", Type::kFloat, {}}};
  options.device_mapping = {0, 1, 2, 0};
  options.schedule = kind;
  return options;
}

TEST(Pipeline, AddsGradientsOfSharedParametersInTheSameOrder) {
  std::set<float> gradients;
  for (const ScheduleKind kind : {ScheduleKind::kGrouped, ScheduleKind::kSequential}) {
    Runner runner(tied(kind));
    runner.values.get<float>(0)[0] = 1.7F;
    runner.run();
    gradients.insert(runner.gradients.get<float>(0)[0]);
    runner.run();  // begins with zero again
    EXPECT_GT(runner.gradients.get<float>(0)[0], *gradients.begin());
  }
  EXPECT_EQ(gradients.size(), 1U);
}

// A mask that would come out differently in a second pass is kept; what follows from it is computed again.
TEST(Pipeline, RecomputesWhatIsNotKept) {
  int masks = 0, forwards = 0;
  Stage dropout{.name = "dropout",
                .outputs = {{"x", Type::kFloat, {}}},
                .saved = {{{"mask", Type::kFloat, {}}, Keep::kStateful}, {{"twice", Type::kFloat, {}}}},
                .forward =
                    [&](Io& io) {
                      ++forwards;
                      if (!io.recomputing()) io.saved("mask")[0] = static_cast<float>(++masks);
                      io.saved("twice")[0] = 2 * io.saved("mask")[0];
                      io.out("x")[0] = io.in("x")[0] + io.saved("twice")[0];
                    },
                .backward =
                    [&](Io& io) {
                      EXPECT_EQ(io.saved("mask")[0], static_cast<float>(io.microBatch() + 1));
                      EXPECT_EQ(io.saved("twice")[0], static_cast<float>(2 * (io.microBatch() + 1)));
                      EXPECT_EQ(io.out("x")[0], io.in("x")[0] + io.saved("twice")[0]);
                    }};
  PipelineOptions options = optionsOf({dropout, adding("a", 0), last()}, 6);
  options.recompute = true;
  Runner runner(std::move(options));
  runner.run();
  EXPECT_EQ(masks, 6);
  EXPECT_EQ(forwards, 12);
  EXPECT_EQ(runner.came().size(), 6U) << "nothing is sent twice";
}

TEST(Pipeline, SendsWhatIsNotMasked) {
  Stage end{.name = "end",
            .outputs = {{"loss", Type::kFloat, {}}, {"guess", Type::kFloat, {}}},
            .forward = [](Io& io) { io.out("loss")[0] = io.out("guess")[0] = io.in("x")[0]; },
            .backward = [](Io&) {}};
  PipelineOptions options = optionsOf({adding("a", 0), end}, 4);
  const auto sent = [](PipelineOptions of) {
    Runner runner(std::move(of));
    runner.run();
    return textOf(runner.outfeed.dequeue().spec());
  };
  EXPECT_EQ(sent(options), "loss: float [4], guess: float [4]");
  options.outfeed_mask = {true, false};
  EXPECT_EQ(sent(options), "guess: float [4]");
  options.outfeed_mask = {};
  options.loss = "loss";
  options.outfeed_loss = true;
  EXPECT_EQ(sent(options), "loss: float [4]");
}

TEST(Pipeline, TakesAnotherCountForARun) {
  Runner runner(optionsOf({adding("a", 1), last()}, 4));
  runner.run({.gradient_accumulation_count = 12});
  EXPECT_EQ(runner.came().size(), 12U);
  runner.run();
  EXPECT_EQ(runner.came().size(), 4U);
}

TEST(Pipeline, WithoutBackwardsEvaluatesOnly) {
  Stage a = adding("a", 1), b = last();
  a.backward = b.backward = nullptr;
  Runner runner(optionsOf({a, b}, 4));
  runner.pipeline.evaluate(runner.values, runner.feeds(), 6);
  EXPECT_THAT(runner.came(), ElementsAre(1, 2, 3, 4, 5, 6));
  io::testing::expectError([&] { runner.run(); }, ErrorCode::kFailedPrecondition, "no stage has a backward");
}

TEST(Pipeline, GoesOnAfterAStageHasThrown) {
  bool fails = true;
  Stage a = adding("a", 0);
  a.backward = [&](Io&) {
    if (fails) throw std::runtime_error("no luck");
  };
  Runner runner(optionsOf({a, last()}, 4));
  EXPECT_THROW(runner.run(), std::runtime_error);
  fails = false;
  runner.came();
  runner.run();
  EXPECT_EQ(runner.came().size(), 4U);
}

TEST(Pipeline, DescribesItself) {
  PipelineOptions options = optionsOf(
      {adding("a", 0), {adding("b", 0, "x", "b0"), adding("c", 0, "x", "c0")}, last({"b0", "c0"})}, 12);
  options.device_mapping = {0, {1, 2}, 3};
  const std::string text = Pipeline(options).describe();
  EXPECT_THAT(text, HasSubstr("a on IPU 0, b on IPU 1 beside c on IPU 2, last on IPU 3"));
  EXPECT_THAT(text, HasSubstr("Grouped, 12 micro-batches for each update (a multiple of 6)"));
  EXPECT_THAT(text, HasSubstr("a 4, b 2, c 2, last 0"));
  EXPECT_THAT(text, HasSubstr("14.3 %"));
  EXPECT_THAT(text, HasSubstr("with recomputation"));
}

}  // namespace
}  // namespace popdist::train
