// SPDX-License-Identifier: Apache-2.0
// Measures what a pipeline costs beside the maths of its stages: runs of four stages that do nothing, or that
// only look their tensors up, divided by the number of stage calls. JSON lines on stdout, tables on stderr.
// It only reports: its exit code does not depend on the figures.
#include <string>
#include <vector>

#include "bench/harness/clock.h"
#include "bench/harness/results.h"
#include "bench/harness/session.h"
#include "popdist/pipeline.hpp"

namespace pop::bench {
namespace {

namespace train = popdist::train;

constexpr int kStages = 4;
constexpr int kCount = 16;
constexpr int kBatches = 101;
constexpr int kRunsInBatch = 100;

struct Case {
  std::string name;
  train::StageFunction forward, backward;
  bool recompute = false;
};

std::vector<Case> cases() {
  const train::StageFunction nothing = [](train::Io&) {};
  const train::StageFunction by_name = [](train::Io& io) { io.out("x")[0] = io.in("x")[0] + io.par(0)[0]; };
  const train::StageFunction by_name_back = [](train::Io& io) {
    io.gradPar(0)[0] += io.in("x")[0] * io.out("x")[0];
  };
  const train::StageFunction by_position = [](train::Io& io) { io.out(0)[0] = io.in(0)[0] + io.par(0)[0]; };
  const train::StageFunction by_position_back = [](train::Io& io) {
    io.gradPar(0)[0] += io.in(0)[0] * io.out(0)[0];
  };
  return {{"nothing", nothing, nothing},
          {"nothing, recomputed", nothing, nothing, true},
          {"three tensors by position", by_position, by_position_back},
          {"three tensors by name", by_name, by_name_back}};
}

train::Pipeline pipelineOf(const Case& each, train::ScheduleKind kind) {
  train::PipelineOptions options;
  const popdist::Spec number = {{"x", popdist::Type::kFloat, {16}}};
  for (int i = 0; i < kStages; ++i)
    options.stages.emplace_back(train::Stage{.name = "stage" + std::to_string(i),
                                             .parameters = {0},
                                             .outputs = number,
                                             .forward = each.forward,
                                             .backward = each.backward});
  options.parameters = {{"w", popdist::Type::kFloat, {16}}};
  options.arguments = number;
  options.device_mapping = {0, 0, 0, 0};  // they share the parameter
  options.schedule = kind;
  options.gradient_accumulation_count = kCount;
  options.recompute = each.recompute;
  options.outfeed_mask = {true};
  return train::Pipeline(std::move(options));
}

/// Microseconds of a stage call, over batches of runs.
Summary usPerCall(train::Pipeline& pipeline) {
  popdist::Tensors values(pipeline.options().parameters);
  popdist::Tensors gradients(pipeline.options().parameters);
  popdist::Tensors arguments(pipeline.options().arguments);
  const train::UpdateFunction update = [](std::uint64_t, popdist::ConstTensorRefs) {};
  std::size_t calls = 0;
  for (const train::Action& action : pipeline.schedule().order())
    calls += action.kind != train::ActionKind::kUpdate ? 1U : 0U;
  std::vector<double> us;
  for (int batch = 0; batch < kBatches; ++batch) {
    const auto begin = Clock::now();
    pipeline.run(values, gradients.refs(), {.arguments = &arguments}, update, {.repeat_count = kRunsInBatch});
    us.push_back(secondsSince(begin) * 1e6 / (static_cast<double>(calls) * kRunsInBatch));
  }
  return summarize(us);
}

int benchmark() {
  beginSession();
  std::vector<Figure> figures;
  for (const Case& each : cases()) {
    for (const auto& [kind, name] : {std::pair(train::ScheduleKind::kGrouped, "Grouped"),
                                     std::pair(train::ScheduleKind::kSequential, "Sequential")}) {
      train::Pipeline pipeline = pipelineOf(each, kind);
      figures.push_back({"stage call", "pipeline", each.name + ", " + name, "us", usPerCall(pipeline)});
    }
  }
  report("", figures, judge(figures, "pipeline", {{{nullptr, nullptr, 1}}}));
  return 0;
}

}  // namespace
}  // namespace pop::bench

int main() {
  return pop::bench::benchmark();
}
