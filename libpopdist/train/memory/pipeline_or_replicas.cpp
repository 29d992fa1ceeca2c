// SPDX-License-Identifier: Apache-2.0
// The same stages in three arrangements, simulated.
#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "popdist/pipeline_plan.hpp"

namespace popdist::train {
namespace {

Configuration onOneIpu(const ConfigurationQuestion& question, int replicas) {
  const int stages = static_cast<int>(question.stages.size());
  ScheduleOptions options{.levels = chain(stages),
                          .device_mapping = DeviceMapping(question.stages.size(), DeviceGroup(0)),
                          .gradient_accumulation_count = (question.micro_batches + replicas - 1) / replicas,
                          .kind = ScheduleKind::kSequential,
                          .recompute = question.recompute_on_one_ipu};
  SimulationOptions times{.stages = question.stages, .sync = question.sync, .update = question.update};
  if (replicas > 1) times.update += question.all_reduce;
  const std::string how = question.recompute_on_one_ipu ? ", recomputing" : "";
  return {.name = replicas == 1 ? "1 IPU" + how : std::to_string(replicas) + " replicas of 1 IPU" + how,
          .ipus = replicas,
          .replicas = replicas,
          .update = simulate(Schedule(std::move(options)), times).total};
}

Configuration asPipeline(const ConfigurationQuestion& question) {
  const int stages = static_cast<int>(question.stages.size());
  ScheduleOptions options{.levels = chain(stages),
                          .gradient_accumulation_count = question.micro_batches,
                          .kind = question.schedule,
                          .recompute = question.recompute_in_pipeline};
  const SimulationOptions times{.stages = question.stages, .sync = question.sync, .update = question.update};
  return {.name = "a pipeline of " + std::to_string(stages) + " IPUs" +
                  (question.recompute_in_pipeline ? ", recomputing" : ""),
          .ipus = stages,
          .replicas = 1,
          .update = simulate(Schedule(std::move(options)), times).total};
}

std::string micros(SimulatedTime time) {
  return pop::numberText(std::round(static_cast<double>(time.count()) / 1e5) / 10) + " us";
}

}  // namespace

PipelineOrReplicas pipelineOrReplicas(const ConfigurationQuestion& question) {
  if (question.stages.size() < 2)
    throwIfError(pop::invalidArgument("stages has times of " + std::to_string(question.stages.size()) +
                                      " stages: a pipeline has at least 2"),
                 "pipelineOrReplicas");
  if (question.all_reduce.count() < 0)
    throwIfError(pop::invalidArgument("all_reduce is " + std::to_string(question.all_reduce.count()) +
                                      " ps: times are 0 or more"),
                 "pipelineOrReplicas");
  PipelineOrReplicas answer{.configurations = {asPipeline(question), onOneIpu(question, 1),
                                               onOneIpu(question, static_cast<int>(question.stages.size()))}};
  const auto first = answer.configurations.begin();
  answer.quickest = static_cast<std::size_t>(
      std::min_element(first, answer.configurations.end(),
                       [](const Configuration& a, const Configuration& b) { return a.update < b.update; }) -
      first);
  return answer;
}

std::string PipelineOrReplicas::text() const {
  std::string text;
  for (const Configuration& each : configurations)
    text += each.name + ": " + micros(each.update) + " from update to update\n";
  return text + "quickest: " + configurations[quickest].name + "\n";
}

}  // namespace popdist::train
