// SPDX-License-Identifier: Apache-2.0
// Trainers whose step is a pipeline.
#include <utility>
#include <vector>

#include "popdist/trainer.hpp"
#include "tests/differ/row.h"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::testing {
namespace {

using namespace popdist::train;

constexpr std::size_t kRows = 2;  // per micro-batch

Stage stage(const char* name, std::vector<std::size_t> parameters, const char* output) {
  return {.name = name,
          .parameters = std::move(parameters),
          .outputs = {{output, Type::kFloat, {kRows}}},
          .forward = [](Io&) {},
          .backward = [](Io&) {}};
}

PipelineOptions twoStages(Context& context) {
  return {.stages = {stage("first", {0}, "y"), stage("second", {1}, "z")},
          .parameters = regression::parameters().spec(),
          .inputs = regression::feed(context, kRows).spec(),
          .ipus = 4,
          .gradient_accumulation_count = 8,
          .outfeed_mask = {true}};
}

template <typename Change>
std::function<Call(Context&)> changed(Change change) {
  return onContext([change](Context& context, bool differs) {
    PipelineProgram program{.pipeline = twoStages(context)};
    if (differs) change(program);
    PopDistStrategy strategy(context);
    Trainer trainer(strategy, regression::parameters(), std::move(program), sgd(0.1));
    trainer.initialise(1);
    io::Infeed infeed = regression::feed(context, kRows);
    trainer.run(infeed, 1);
  });
}

}  // namespace

Rows pipelineRows() {
  return {
      {"Trainer of a pipeline",
       "schedule",
       "grouped",
       "sequential",
       {"PipelineOptions::schedule", "'Grouped'", "'Sequential'"},
       changed([](PipelineProgram& p) { p.pipeline.schedule = ScheduleKind::kSequential; })},
      {"Trainer of a pipeline",
       "gradient_accumulation_count",
       "8",
       "16",
       {"accumulation", "'8'", "'16'"},
       changed([](PipelineProgram& p) { p.pipeline.gradient_accumulation_count = 16; })},
      {"Trainer of a pipeline",
       "stages: their number",
       "2",
       "3",
       {"stages", "third"},
       changed([](PipelineProgram& p) { p.pipeline.stages.push_back(stage("third", {}, "last")); })},
      {"Trainer of a pipeline",
       "stages: a name",
       "second",
       "last",
       {"stages", "second", "last"},
       changed([](PipelineProgram& p) { p.pipeline.stages.back().stages.front().name = "last"; })},
      {"Trainer of a pipeline",
       "stages: parameters",
       "w, b",
       "b, w",
       {"stages"},
       changed([](PipelineProgram& p) {
         p.pipeline.stages.front().stages.front().parameters = {1};
         p.pipeline.stages.back().stages.front().parameters = {0};
       })},
      {"Trainer of a pipeline",
       "device_mapping",
       "in their order",
       "1, 0",
       {"device_mapping"},
       changed([](PipelineProgram& p) {
         p.pipeline.device_mapping = {DeviceGroup{1}, DeviceGroup{0}};
       })},
      {"Trainer of a pipeline", "ipus", "4", "2", {"ipus", "'4'", "'2'"}, changed([](PipelineProgram& p) {
         p.pipeline.ipus = 2;
       })},
      {"Trainer of a pipeline", "recompute", "false", "true", {"recompute"}, changed([](PipelineProgram& p) {
         p.pipeline.recompute = true;
       })},
      {"Trainer of a pipeline",
       "times",
       "none",
       "sync of 5 ps",
       {"PipelineProgram::times"},
       changed([](PipelineProgram& p) {
         p.times = SimulationOptions{.stages = {StageTimes{}, StageTimes{}}, .sync = SimulatedTime(5)};
       })},
  };
}

}  // namespace popdist::testing
