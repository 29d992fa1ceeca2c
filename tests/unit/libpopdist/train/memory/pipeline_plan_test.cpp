// SPDX-License-Identifier: Apache-2.0
// A pipeline's plan: tensors on its IPUs, data that each option moves and streams, and its cost beside
// replicas.
#include "popdist/pipeline_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/testing/error_code_of.h"

namespace popdist::train {
namespace {

using popdist::testing::errorCodeOf;
using ::testing::HasSubstr;

constexpr std::size_t kWeights = 1000;      // per stage, of two
constexpr std::size_t kActivations = 4096;  // floats that each hands on

Parameters twoWeights() {
  Parameters parameters;
  parameters.add("w0", {kWeights});
  parameters.add("w1", {kWeights});
  return parameters;
}

PipelineOptions onOneIpu() {
  PipelineOptions options;
  for (std::size_t i = 0; i < 2; ++i) {
    Stage stage{.name = std::string(1, "ab"[i]),
                .parameters = {i},
                .outputs = {{"x", Type::kFloat, {kActivations}}},
                .forward = [](Io&) {},
                .backward = [](Io&) {}};
    options.stages.emplace_back(std::move(stage));
  }
  options.parameters = twoWeights().spec();
  options.device_mapping = {0, 0};
  options.schedule = ScheduleKind::kSequential;
  options.gradient_accumulation_count = 8;
  options.outfeed_mask = {true};
  return options;
}

PipelinePlan planOf(const PipelineOptions& options, MemoryPlanOptions memory = {}) {
  memory.exchange_code_bytes = 0;
  return planMemory(Pipeline(options), twoWeights(), adam({}), memory);
}

PipelinePlan planWith(const std::function<void(PipelineOptions&)>& change,
                      const MemoryPlanOptions& memory = {}) {
  PipelineOptions options = onOneIpu();
  change(options);
  return planOf(options, memory);
}

MemoryRow rowOf(const PipelinePlan& plan, const std::string& what) {
  for (const MemoryRow& row : plan.memory.front().rows)
    if (row.what == what) return row;
  return {.what = "none"};
}

constexpr std::uint64_t kStage = kWeights * sizeof(float);
constexpr std::uint64_t kTensor = kActivations * sizeof(float);

TEST(PipelinePlan, CountsEachIpusOwnStages) {
  PipelineOptions options = onOneIpu();
  options.device_mapping = {0, 2};
  options.schedule = ScheduleKind::kGrouped;
  const PipelinePlan plan = planOf(options);
  EXPECT_EQ(plan.ipus, (std::vector<int>{0, 2}));
  ASSERT_EQ(plan.memory.size(), 2U);
  EXPECT_EQ(rowOf(plan, "parameters").in_processor, kStage);
  EXPECT_EQ(rowOf(plan, "accumulators").in_processor, kStage);
  EXPECT_EQ(rowOf(plan, "activations").in_processor, 3 * kTensor)
      << "a Grouped pipeline's first of two stages";
  EXPECT_EQ(rowOf(plan, "adam.m").streaming, kStage) << "gradients are accumulated";
  EXPECT_EQ(plan.memory[0].streamed_per_update, 4 * kStage);
  EXPECT_EQ(plan.streamed[0].forward + plan.streamed[1].backward, 0U);
}

TEST(PipelinePlan, OffloadsActivationsOfMicroBatchesThatWait) {
  const PipelinePlan plan =
      planWith([](PipelineOptions& options) { options.offload_activations = Offload::kOn; });
  EXPECT_EQ(rowOf(plan, "activations").in_processor, 0U);
  EXPECT_EQ(rowOf(plan, "activations").streaming, 2 * kTensor);
  EXPECT_EQ(rowOf(plan, "activations in use").in_processor, 2 * kTensor) << "inputs and outputs of one stage";
  EXPECT_EQ(plan.streamed[0].forward, kTensor) << "the first stage reads from the infeed";
  EXPECT_EQ(plan.streamed[1].forward, 2 * kTensor);
  EXPECT_EQ(plan.streamed[1].backward, 2 * kTensor);
}

TEST(PipelinePlan, OffloadsAccumulators) {
  const PipelinePlan plan = planWith(
      [](PipelineOptions& options) { options.offload_gradient_accumulation_buffers = Offload::kOn; });
  EXPECT_EQ(rowOf(plan, "accumulators").streaming, 2 * kStage);
  EXPECT_EQ(rowOf(plan, "accumulators in use").in_processor, kStage);
  EXPECT_EQ(plan.streamed[0].backward, 2 * kStage) << "in, and out again";
  EXPECT_EQ(plan.streamed[0].forward, 0U);
  EXPECT_EQ(plan.memory[0].streamed_per_update, 2 * 4 * kStage + 2 * kStage) << "state both ways, sums in";
}

TEST(PipelinePlan, ShardsWeightsOverReplicasAndOffloadsTheParts) {
  const PipelinePlan sharded = planWith(
      [](PipelineOptions& options) { options.replicated_weight_sharding = Offload::kOn; }, {.replicas = 4});
  EXPECT_EQ(rowOf(sharded, "parameters").in_processor, 2 * kStage / 4);
  EXPECT_EQ(rowOf(sharded, "parameters in use").in_processor, kStage);
  EXPECT_EQ(sharded.gathered_per_stage, kStage);
  const PipelinePlan offloaded =
      planWith([](PipelineOptions& options) { options.offload_weights = Offload::kOn; }, {.replicas = 4});
  EXPECT_EQ(rowOf(offloaded, "parameters").in_processor, 0U);
  EXPECT_EQ(rowOf(offloaded, "parameters").streaming, 2 * kStage / 4);
  EXPECT_EQ(offloaded.streamed[0].forward, kStage / 4);
  EXPECT_EQ(offloaded.streamed[0].backward, kStage / 4);
}

// A stage takes 4 micro-batches in a row: its weights come once for all of them.
TEST(PipelinePlan, AutoIsOnWhereMicroBatchesAreSerialized) {
  const auto serialized = [](PipelineOptions& options) { options.batch_serialization_iterations = 4; };
  const PipelinePlan plan = planWith(serialized, {.replicas = 2});
  EXPECT_EQ(rowOf(plan, "activations").streaming, 2 * 4 * kTensor);
  EXPECT_EQ(rowOf(plan, "accumulators").streaming, 2 * kStage);
  EXPECT_EQ(rowOf(plan, "parameters").streaming, kStage);
  EXPECT_EQ(plan.streamed[0].forward, kTensor + kStage / 2 / 4);
  EXPECT_EQ(plan.streamed[0].backward, kTensor + kStage / 2 / 4 + 2 * kStage / 4);
  EXPECT_THAT(plan.text(), HasSubstr("offload_weights: on: batch_serialization_iterations is 4"));
  EXPECT_EQ(planWith(serialized, {.remote_buffers = false}).memory[0].streaming, 0U);
  EXPECT_EQ(planWith([](PipelineOptions&) {}).memory[0].rows.size(), 7U) << "nothing moves by itself";
}

TEST(PipelinePlan, CountsTheTemporaryMemoryThatStagesAskFor) {
  const auto asking = [](const std::string& proportion) {
    return [=](PipelineOptions& options) {
      options.backward_propagation_stages_poplar_options = {{}, {{"availableMemoryProportion", proportion}}};
    };
  };
  EXPECT_EQ(
      rowOf(planWith(asking("0.25"), {.in_processor_bytes = 1'000'000}), "temporary memory").in_processor,
      250'000U);
  EXPECT_EQ(errorCodeOf([&] { planWith(asking("1.5")); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { planWith(asking("much")); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(errorCodeOf([&] { planWith(asking("1")); }), ErrorCode::kResourceExhausted) << "and the rest";
}

TEST(PipelinePlan, RefusesWhatTheSystemCannotDo) {
  const auto code = [](const std::function<void(PipelineOptions&)>& change) {
    return errorCodeOf([&] { planWith(change, {.remote_buffers = false}); });
  };
  EXPECT_EQ(code([](PipelineOptions& options) { options.offload_activations = Offload::kOn; }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](PipelineOptions& options) { options.offload_weights = Offload::kOn; }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code([](PipelineOptions& options) { options.replicated_weight_sharding = Offload::kOn; }),
            std::nullopt);
}

// 1 byte a picosecond.
TEST(PipelinePlan, TimesPayForWhatIsStreamed) {
  PipelineOptions options = onOneIpu();
  const MemoryPlanOptions memory{.streaming_bytes_per_s = 1'000'000'000'000};
  const SimulationOptions times{.stages = {{SimulatedTime(100'000), SimulatedTime(200'000)}}};
  const auto total = [&] {
    const Pipeline pipeline(options);
    return pipeline.simulatedTime(planMemory(pipeline, twoWeights(), adam({}), memory).addTo(times)).count();
  };
  EXPECT_EQ(total(), 8 * 2 * 300'000) << "the optimizer's state is the trainer's to count";
  options.offload_activations = Offload::kOn;
  EXPECT_EQ(total(), 8 * (2 * 300'000 + static_cast<std::int64_t>(6 * kTensor)));
  options.offload_activations = Offload::kOff;
  options.offload_gradient_accumulation_buffers = Offload::kOn;
  EXPECT_EQ(total(), 8 * (2 * 300'000 + static_cast<std::int64_t>(2 * 2 * kStage)) +
                         static_cast<std::int64_t>(2 * kStage));
}

// With a forward of 1 and a backward of 2: the guide's example.
TEST(PipelineOrReplicas, SimulatesThreeConfigurations) {
  ConfigurationQuestion question{.stages = {{SimulatedTime(1'000'000), SimulatedTime(2'000'000)},
                                            {SimulatedTime(1'000'000), SimulatedTime(2'000'000)}},
                                 .micro_batches = 32};
  PipelineOrReplicas answer = pipelineOrReplicas(question);
  ASSERT_EQ(answer.configurations.size(), 3U);
  EXPECT_EQ(answer.configurations[0].update, SimulatedTime(99'000'000));
  EXPECT_EQ(answer.configurations[1].update, SimulatedTime(224'000'000));
  EXPECT_EQ(answer.configurations[2].update, SimulatedTime(112'000'000));
  EXPECT_EQ(answer.quickest, 0U);
  EXPECT_EQ(answer.text(),
            "a pipeline of 2 IPUs: 99 us from update to update\n"
            "1 IPU, recomputing: 224 us from update to update\n"
            "2 replicas of 1 IPU, recomputing: 112 us from update to update\n"
            "quickest: a pipeline of 2 IPUs\n");
  question.recompute_on_one_ipu = false;
  EXPECT_EQ(pipelineOrReplicas(question).quickest, 2U);
  question.all_reduce = SimulatedTime(4'000'000);
  EXPECT_EQ(pipelineOrReplicas(question).quickest, 0U) << "replicas exchange gradients";
  question.micro_batches = 7;
  EXPECT_EQ(errorCodeOf([&] { pipelineOrReplicas(question); }), ErrorCode::kInvalidArgument);
  question.stages.pop_back();
  EXPECT_EQ(errorCodeOf([&] { pipelineOrReplicas(question); }), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace popdist::train
