// SPDX-License-Identifier: Apache-2.0
// A pipeline has all of its memory when it is made: runs allocate nothing.
#include "tests/testing/allocation_peak.h"
#include "tests/unit/libpopdist/train/pipeline/stages.h"

namespace popdist::train {
namespace {

TEST(PipelineMemory, RunsAllocateNothing) {
  for (const bool recompute : {false, true}) {
    PipelineOptions options;
    options.stages = {testing::adding("a", 1), testing::adding("b", 1), testing::last()};
    options.arguments = testing::kNumber;
    options.gradient_accumulation_count = 12;
    options.recompute = recompute;
    options.outfeed_mask = {true};
    options.parameters = {{"w", Type::kFloat, {1000}}};
    options.stages[1].stages[0].parameters = {0};
    Pipeline pipeline(std::move(options));
    Tensors values(pipeline.options().parameters), gradients(pipeline.options().parameters);
    const Tensors arguments(Tensor::full("x", {}, 1.0F));
    const UpdateFunction update = [](std::uint64_t, ConstTensorRefs) {};
    const Feeds feeds{.arguments = &arguments};
    pipeline.evaluate(values, feeds, 6);  // makes the schedule of evaluations
    const pop::testing::AllocationPeak peak;
    pipeline.run(values, gradients.refs(), feeds, update, {.repeat_count = 5});
    pipeline.evaluate(values, feeds, 6);
    EXPECT_EQ(peak.bytes(), 0U);
  }
}

TEST(PipelineMemory, IsThatOfTheSlotsOfTheSchedule) {
  const std::size_t elements = 1 << 10;
  Stage wide{.name = "wide",
             .outputs = {{"x", Type::kFloat, {elements}}},
             .forward = [](Io&) {},
             .backward = [](Io&) {}};
  wide.saved = {{{"a", Type::kFloat, {elements}}}, {{"b", Type::kFloat, {elements}}}};
  PipelineOptions options;
  for (const char* name : {"a", "b", "c", "d"}) {
    wide.name = name;
    options.stages.emplace_back(wide);
  }
  options.gradient_accumulation_count = 8;
  options.outfeed_mask = {true};
  const std::size_t tensor = elements * sizeof(float);
  options.recompute = true;
  EXPECT_EQ(Pipeline(options).storedBytes(), (7 + 5 + 3 + 1) * tensor + 4 * 2 * tensor);
  options.recompute = false;
  EXPECT_EQ(Pipeline(options).storedBytes(), (7 + 5 + 3 + 1) * 3 * tensor);
}

}  // namespace
}  // namespace popdist::train
