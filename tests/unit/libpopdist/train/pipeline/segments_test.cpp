// SPDX-License-Identifier: Apache-2.0
// Stages of several segments: the same bits in every mode of recomputation, and memory by the mode;
// micro-batches that a stage takes in a row; options that stages read.
#include <gmock/gmock.h>

#include <tuple>

#include "tests/unit/libpopdist/train/pipeline/stages.h"

namespace popdist::train {
namespace {

using io::testing::expectError;
using ::testing::ElementsAre;
using testing::last;
using testing::optionsOf;
using testing::Runner;

constexpr std::size_t kElements = 256;  // saved by a segment

// x = w · x, and saves what the backward needs: x, many times.
Segment scaling(std::size_t parameter) {
  return {.outputs = {{"x", Type::kFloat, {}}},
          .saved = {{{"saved", Type::kFloat, {kElements}}}},
          .forward =
              [=](Io& io) {
                for (float& each : io.saved("saved")) each = io.in("x")[0];
                io.out("x")[0] = io.par(parameter)[0] * io.in("x")[0];
              },
          .backward =
              [=](Io& io) {
                const auto saved = io.saved("saved");
                EXPECT_EQ(saved[0], io.in("x")[0]);
                EXPECT_EQ(saved[kElements - 1], io.in("x")[0]);
                io.gradPar(parameter)[0] += io.gradOut("x")[0] * saved[3];
                if (const auto dx = io.gradIn("x"); !dx.empty())
                  dx[0] = io.gradOut("x")[0] * io.par(parameter)[0];
              }};
}

// Two stages of three segments and one, and a last one.
PipelineOptions segmented(ScheduleKind kind, std::int64_t count = 12) {
  PipelineOptions options = optionsOf(
      {Stage{.name = "a", .parameters = {0, 1, 2}, .segments = {scaling(0), scaling(1), scaling(2)}},
       Stage{.name = "b", .parameters = {3}, .segments = {scaling(3)}}, last()},
      count);
  options.parameters = {
      {"w0", Type::kFloat, {}}, {"w1", Type::kFloat, {}}, {"w2", Type::kFloat, {}}, {"w3", Type::kFloat, {}}};
  options.schedule = kind;
  return options;
}

std::tuple<std::vector<float>, std::vector<float>> resultsOf(const PipelineOptions& options) {
  Runner runner(options);
  for (std::size_t i = 0; i < 4; ++i) runner.values.get<float>(i)[0] = 1.1F + 0.37F * static_cast<float>(i);
  runner.run();
  std::vector<float> gradients;
  for (std::size_t i = 0; i < 4; ++i) gradients.push_back(runner.gradients.get<float>(i)[0]);
  return {gradients, runner.came()};
}

TEST(Segments, GiveTheSameBitsForEveryScheduleAndMode) {
  const auto expected = resultsOf(segmented(ScheduleKind::kGrouped));
  EXPECT_NE(std::get<0>(expected)[0], 0);
  const auto with = [](ScheduleKind kind, RecomputeMode mode) {
    PipelineOptions options = segmented(kind);
    options.recompute = true;
    options.recompute_mode = mode;
    return resultsOf(options);
  };
  EXPECT_EQ(resultsOf(segmented(ScheduleKind::kInterleaved)), expected);
  EXPECT_EQ(resultsOf(segmented(ScheduleKind::kSequential)), expected);
  EXPECT_EQ(with(ScheduleKind::kGrouped, RecomputeMode::kThenBackpropagate), expected);
  EXPECT_EQ(with(ScheduleKind::kGrouped, RecomputeMode::kAndBackpropagateInterleaved), expected);
  EXPECT_EQ(with(ScheduleKind::kInterleaved, RecomputeMode::kThenBackpropagate), expected);
  EXPECT_EQ(with(ScheduleKind::kSequential, RecomputeMode::kAndBackpropagateInterleaved), expected);
}

TEST(Segments, OfOneStageAreAliveOneAtATimeOrAllTogether) {
  PipelineOptions options = segmented(ScheduleKind::kGrouped);
  options.recompute = true;
  const std::size_t saved = kElements * sizeof(float);
  const std::size_t output = 64;  // a float, aligned
  options.recompute_mode = RecomputeMode::kThenBackpropagate;
  const StageMemory whole = Pipeline(options).memoryOf(0);
  const std::size_t stored_by_whole_stages = Pipeline(options).storedBytes();
  EXPECT_EQ(whole.recomputed, 3 * saved + 2 * output);
  EXPECT_EQ(whole.micro_batch, 2 * output) << "what comes from the infeed, and what goes to the next stage";
  options.recompute_mode = RecomputeMode::kAndBackpropagateInterleaved;
  const StageMemory one = Pipeline(options).memoryOf(0);
  EXPECT_EQ(one.recomputed, saved);
  EXPECT_EQ(one.micro_batch, 4 * output) << "and the inputs of two segments";
  EXPECT_LT(Pipeline(options).storedBytes(), stored_by_whole_stages);
}

TEST(Segments, MemoriesOfStagesAreThoseOfThePipeline) {
  for (const bool recompute : {false, true}) {
    PipelineOptions options = segmented(ScheduleKind::kGrouped);
    options.recompute = recompute;
    const Pipeline pipeline(options);
    std::size_t sum = 0;
    for (int stage = 0; stage < 3; ++stage) {
      const StageMemory memory = pipeline.memoryOf(stage);
      EXPECT_EQ(memory.ipu, pipeline.schedule().ipuOf(stage));
      EXPECT_EQ(memory.micro_batches, pipeline.schedule().slots(stage));
      sum += memory.micro_batch * static_cast<std::size_t>(memory.micro_batches) + memory.recomputed;
    }
    EXPECT_EQ(sum, pipeline.storedBytes());
    expectError([&] { pipeline.memoryOf(3); }, ErrorCode::kOutOfRange, "there is no stage 3: there are 3");
  }
}

TEST(Segments, AreCompleteAndInPlaceOfTheStagesOwn) {
  const auto expectRefused = [](PipelineOptions options, const std::string& message) {
    expectError([&] { Pipeline pipeline(options); }, ErrorCode::kInvalidArgument, message);
  };
  PipelineOptions options = segmented(ScheduleKind::kGrouped);
  options.stages[0].stages[0].forward = [](Io&) {};
  expectRefused(options, "stage 'a' has segments, and forward, backward, outputs or saved besides");
  options = segmented(ScheduleKind::kGrouped);
  options.stages[0].stages[0].segments[1].backward = nullptr;
  expectRefused(options, "segment 1 of stage 'a' has no backward, and others have one");
  options.stages[0].stages[0].segments[1].forward = nullptr;
  expectRefused(options, "segment 1 of stage 'a' has no forward");
}

TEST(BatchSerialization, GivesTheSameBitsWithMicroBatchesInARow) {
  const auto expected = resultsOf(segmented(ScheduleKind::kGrouped));
  for (const bool recompute : {false, true}) {
    PipelineOptions options = segmented(ScheduleKind::kSequential);
    options.device_mapping = {0, 0, 0};
    options.batch_serialization_iterations = 4;
    options.recompute = recompute;
    EXPECT_EQ(resultsOf(options), expected);
    EXPECT_EQ(Pipeline(options).memoryOf(0).micro_batches, 4);
  }
}

TEST(StageOptionsOfPasses, AreReadByTheStages) {
  std::vector<std::string> seen;
  Stage first = testing::adding("a", 1);
  first.forward = [&, forward = first.forward](Io& io) {
    if (io.microBatch() == 0) seen.emplace_back(io.option("availableMemoryProportion", "none"));
    forward(io);
  };
  first.backward = [&, backward = first.backward](Io& io) {
    if (io.microBatch() == 0) seen.emplace_back(io.option("availableMemoryProportion"));
    if (io.microBatch() == 0) seen.emplace_back(io.option("partials", "float"));
    backward(io);
  };
  PipelineOptions options = optionsOf({first, last()}, 4);
  options.forward_propagation_stages_poplar_options = {{{"availableMemoryProportion", "0.3"}}, {}};
  options.backward_propagation_stages_poplar_options = {{{"availableMemoryProportion", "0.1"}}, {}};
  Runner runner(options);
  runner.run();
  EXPECT_THAT(seen, ElementsAre("0.3", "0.1", "float"));
  options.forward_propagation_stages_poplar_options.pop_back();
  expectError([&] { Pipeline pipeline(options); }, ErrorCode::kInvalidArgument,
              "forward_propagation_stages_poplar_options has length 1, and there are 2 stages");
}

TEST(PlacementOptions, ThatContradictEachOtherAreRefused) {
  PipelineOptions options = optionsOf({testing::adding("a", 1), last()}, 4);
  const auto expectRefused = [](const PipelineOptions& of, const std::string& message) {
    expectError([&] { Pipeline pipeline(of); }, ErrorCode::kInvalidArgument, message);
  };
  options.continuous_weight_updates = true;
  expectRefused(options, "continuous_weight_updates is set");
  options.continuous_weight_updates = false;
  options.offload_weights = Offload::kOn;
  options.replicated_weight_sharding = Offload::kOff;
  expectRefused(options, "offload_weights is on, and replicated_weight_sharding is off");
  options.offload_weights = Offload::kAuto;
  options.batch_serialization_iterations = 2;
  expectRefused(options,
                "batch_serialization_iterations is 2, which needs the Sequential schedule, not Grouped");
  options.schedule = ScheduleKind::kSequential;
  expectRefused(options, "which needs all stages on one IPU, and they are on 2 IPUs");
  options.device_mapping = {0, 0};
  options.gradient_accumulation_count = 5;
  expectRefused(options, "needs a multiple of 2: take 6 or 8");
  options.batch_serialization_iterations = 0;
  expectRefused(options, "batch_serialization_iterations is 0, expected 1 or more");
}

}  // namespace
}  // namespace popdist::train
