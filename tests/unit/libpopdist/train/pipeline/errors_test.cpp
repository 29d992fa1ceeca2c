// SPDX-License-Identifier: Apache-2.0
// Pipelines that are refused: errors say the thing, the cause and what to do.
#include "tests/unit/libpopdist/train/pipeline/stages.h"

namespace popdist::train {
namespace {

using io::testing::expectError;
using testing::adding;
using testing::last;
using testing::optionsOf;
using testing::Runner;

void expectRefused(const PipelineOptions& options, const std::string& message) {
  expectError([&] { Pipeline pipeline(options); }, ErrorCode::kInvalidArgument, message);
}

void expectRunRefused(PipelineOptions options, const std::function<void(Runner&)>& call,
                      const std::string& message) {
  Runner runner(std::move(options));
  expectError([&] { call(runner); }, ErrorCode::kInvalidArgument, message);
}

TEST(PipelineErrors, StagesAreComplete) {
  expectRefused(optionsOf({}, 4), "a pipeline has 0 stages");
  expectRefused(optionsOf({last()}, 4), "a pipeline has 1 stage: it needs at least 2");
  Stage stage = adding("a", 0);
  stage.name = "";
  expectRefused(optionsOf({stage, last()}, 4), "a stage has no name");
  stage = adding("a", 0);
  stage.forward = nullptr;
  expectRefused(optionsOf({stage, last()}, 4), "stage 'a' has no forward");
  stage = adding("a", 0);
  stage.backward = nullptr;
  expectRefused(optionsOf({stage, last()}, 4), "stage 'a' has no backward, and others have one");
  expectRefused(optionsOf({adding("a", 0), adding("a", 1), last()}, 6), "two stages are called 'a'");
  stage = adding("a", 0);
  stage.parameters = {3};
  expectRefused(optionsOf({stage, last()}, 4), "stage 'a' has parameter 3, and there are 0");
  expectRefused(optionsOf({adding("a", 0), last()}, 5), "needs a multiple of 4: take 8 or 12");
}

TEST(PipelineErrors, StagesSideBySideAreIndependent) {
  expectRefused(optionsOf({adding("a", 0), {adding("b", 0), adding("c", 0)}, last()}, 6),
                "stages 'b' and 'c' run side by side and both have an output 'x'");
  Stage b = adding("b", 0, "x", "b0"), c = adding("c", 0, "x", "c0");
  b.parameters = c.parameters = {0};
  PipelineOptions options = optionsOf({adding("a", 0), {b, c}, last({"b0", "c0"})}, 6);
  options.parameters = {{"w", Type::kFloat, {}}};
  expectRefused(options, "stages 'b' and 'c' share the parameter 'w' and run side by side");
  options.device_mapping = {0, 1, 2};
  expectRefused(options, "device_mapping[1] names 1 IPU for 2 stages");
}

TEST(PipelineErrors, SharedParametersAreOnOneIpu) {
  Stage a = adding("a", 0), b = adding("b", 0);
  a.parameters = b.parameters = {0};
  PipelineOptions options = optionsOf({a, b, last()}, 6);
  options.parameters = {{"w", Type::kFloat, {}}};
  options.device_mapping = {0, 2, 1};
  expectRefused(options,
                "stages 'a' and 'b' share the parameter 'w' and are on IPUs 0 and 2: put them on one IPU by "
                "device_mapping");
  options.device_mapping = {0, 0, 1};
  Pipeline pipeline(options);
}

TEST(PipelineErrors, CheckpointsNeedTheirSchedule) {
  Stage a = adding("a", 0);
  a.saved = {{{"t", Type::kFloat, {}}, Keep::kCheckpoint}};
  PipelineOptions options = optionsOf({a, last()}, 4);
  options.schedule = ScheduleKind::kInterleaved;
  Pipeline without_recomputation(options);
  options.recompute = true;
  expectRefused(options, "on 2 IPUs need the Grouped schedule, not Interleaved");
}

TEST(PipelineErrors, OutfeedOptionsFitTheOutputs) {
  PipelineOptions options = optionsOf({adding("a", 0), last()}, 4);
  options.loss = "loss";
  expectRefused(options, "loss is 'loss', and the last stage's outputs are sum: float []");
  options.loss = "sum";
  options.outfeed_loss = true;
  options.outfeed_mask = {false};
  expectRefused(options, "outfeed_loss and outfeed_mask are both set");
  options.outfeed_loss = false;
  options.outfeed_mask = {false, true};
  expectRefused(options, "outfeed_mask has length 2, and the last stage has 1 output (sum: float [])");
  options.outfeed_mask = {};
  options.outfeed_loss = true;
  options.loss = "";
  expectRefused(options, "outfeed_loss is set, and loss is not");
  options.loss = "sum";
  for (Concurrent& level : options.stages) level.stages[0].backward = nullptr;
  expectRefused(options, "outfeed_loss is set, and no stage has a backward");
}

TEST(PipelineErrors, FeedsAreThere) {
  const PipelineOptions options = optionsOf({adding("a", 0), last()}, 4);
  const UpdateFunction update = [](std::uint64_t, ConstTensorRefs) {};
  const auto runWith = [&](const std::function<void(Feeds&)>& change) {
    return [=](Runner& runner) {
      Feeds feeds = runner.feeds();
      change(feeds);
      runner.pipeline.run(runner.values, runner.gradients.refs(), feeds, update);
    };
  };
  expectRunRefused(options, runWith([](Feeds& feeds) { feeds.infeed = nullptr; }),
                   "Feeds::infeed is not set, and the first stage reads x: float []");
  expectRunRefused(options, runWith([](Feeds& feeds) { feeds.outfeed = nullptr; }),
                   "Feeds::outfeed is not set, and the last stage has the outputs sum: float []");
  PipelineOptions with_arguments = options;
  with_arguments.arguments = {{"rate", Type::kFloat, {}}};
  expectRunRefused(
      with_arguments, [](Runner& runner) { runner.run(); },
      "Feeds::arguments is not set, and the pipeline has the run arguments rate: float []");
  PipelineOptions other = options;
  other.inputs = {{"x", Type::kFloat, {2}}};
  expectRunRefused(
      other, [](Runner& runner) { runner.run(); },
      "the infeed's tensors are x: float [], and the pipeline was made for x: float [2]");
  expectRunRefused(
      options,
      [&](Runner& runner) {
        const Tensors values(Tensor::full("w", {}, 1.0F));
        runner.pipeline.run(values, runner.gradients.refs(), runner.feeds(), update);
      },
      "values are w: float []");
  expectRunRefused(
      options,
      [](Runner& runner) {
        runner.pipeline.run(runner.values, runner.gradients.refs(), runner.feeds(), nullptr);
      },
      "there is no update function");
}

TEST(PipelineErrors, CountsOfARunAreLegal) {
  const PipelineOptions options = optionsOf({adding("a", 0), last()}, 4);
  for (const std::int64_t count :
       {std::int64_t{-1}, std::int64_t{0}, std::int64_t{6}, std::int64_t{1} << 31}) {
    expectRunRefused(
        options, [=](Runner& runner) { runner.run({.gradient_accumulation_count = count}); },
        "gradient_accumulation_count is " + std::to_string(count));
  }
  expectRunRefused(
      options, [](Runner& runner) { runner.pipeline.evaluate(runner.values, runner.feeds(), 0); },
      "without training needs at least 1: take 1 or 2");
}

TEST(PipelineErrors, InfeedsThatEndNameTheMicroBatch) {
  Runner runner(optionsOf({adding("a", 0), last()}, 4), 6);
  expectError([&] { runner.run({.repeat_count = 2}); }, ErrorCode::kOutOfRange,
              "the infeed has no element for micro-batch 2 of 4 in step 1");
}

TEST(PipelineErrors, TensorsThatAreNotThereAreNamed) {
  const auto with = [](StageFunction forward, StageFunction backward) {
    Stage stage = adding("a", 0);
    stage.outputs.push_back({"label", Type::kInt32, {}});
    if (forward) stage.forward = std::move(forward);
    if (backward) stage.backward = std::move(backward);
    return optionsOf({stage, last()}, 4);
  };
  const auto expectThrown = [](PipelineOptions options, ErrorCode code, const std::string& message) {
    Runner runner(std::move(options));
    expectError([&] { runner.run(); }, code, message);
  };
  expectThrown(with([](Io& io) { io.in("y"); }, nullptr), ErrorCode::kNotFound,
               "stage 'a': no input is called 'y': there are x");
  expectThrown(with([](Io& io) { io.out(5); }, nullptr), ErrorCode::kNotFound, "no output has position 5");
  expectThrown(with([](Io& io) { io.saved("m"); }, nullptr), ErrorCode::kNotFound, "there is none");
  expectThrown(with([](Io& io) { io.in<int>("x"); }, nullptr), ErrorCode::kInvalidArgument,
               "input 'x' is x: float [], and is read as int");
  expectThrown(with([](Io& io) { io.gradOut("x"); }, nullptr), ErrorCode::kFailedPrecondition,
               "gradOut is called in the forward");
  expectThrown(with([](Io& io) { io.par(0); }, nullptr), ErrorCode::kNotFound,
               "list it in Stage::parameters");
  expectThrown(with(nullptr, [](Io& io) { io.gradOut<int>("label"); }), ErrorCode::kFailedPrecondition,
               "only floating point has gradients");
  PipelineOptions options = optionsOf({adding("a", 0), last()}, 4);
  options.stages[1].stages[0].backward = [](Io& io) { io.gradOut("sum"); };
  expectThrown(options, ErrorCode::kFailedPrecondition, "this is the last stage");
}

}  // namespace
}  // namespace popdist::train
