// SPDX-License-Identifier: Apache-2.0
// The options of a pipeline that all instances must have in common.
#include <string>

#include "common/base/text.h"
#include "libpopdist/data/tensor/spec.h"
#include "libpopdist/train/schedule/legality.h"
#include "libpopdist/train/trainer/description.h"

namespace popdist::train {
namespace {

std::string numbersOf(const auto& numbers) {
  std::vector<std::string> texts;
  for (const auto number : numbers) texts.push_back(std::to_string(number));
  return pop::join(texts, " ");
}

std::string textOfStage(const Stage& stage) {
  return stage.name + " (parameters " + numbersOf(stage.parameters) + "; " +
         textOf(stage.segments.empty() ? stage.outputs : stage.segments.back().outputs) + ')';
}

std::string textOfStages(const std::vector<Concurrent>& levels) {
  std::vector<std::string> texts;
  for (const Concurrent& level : levels) {
    std::vector<std::string> beside;
    for (const Stage& stage : level.stages) beside.push_back(textOfStage(stage));
    texts.push_back(pop::join(beside, " beside "));
  }
  return pop::join(texts, ", ");
}

std::string textOfMapping(const DeviceMapping& mapping) {
  std::vector<std::string> texts;
  for (const DeviceGroup& level : mapping) texts.push_back(numbersOf(level.ipus));
  return mapping.empty() ? "in the stages' order" : pop::join(texts, ", ");
}

std::string textOfRecomputation(const PipelineOptions& options) {
  return options.recompute ? "mode " + std::to_string(static_cast<int>(options.recompute_mode)) : "off";
}

std::string textOf(Offload offload) {
  return offload == Offload::kAuto ? "auto" : offload == Offload::kOn ? "on" : "off";
}

}  // namespace

Facts factsOf(const PipelineOptions& options) {
  return {{.name = "PipelineOptions::stages", .text = textOfStages(options.stages)},
          {.name = "PipelineOptions::inputs", .text = textOf(options.inputs)},
          {.name = "PipelineOptions::arguments", .text = textOf(options.arguments)},
          {.name = "PipelineOptions::device_mapping", .text = textOfMapping(options.device_mapping)},
          {.name = "PipelineOptions::ipus", .text = std::to_string(options.ipus)},
          {.name = "PipelineOptions::schedule", .text = nameOf(options.schedule)},
          {.name = "PipelineOptions::overlap_io", .text = options.overlap_io ? "true" : "false"},
          {.name = "PipelineOptions::recompute", .text = textOfRecomputation(options)},
          {.name = "PipelineOptions::batch_serialization_iterations",
           .text = std::to_string(options.batch_serialization_iterations)},
          {.name = "PipelineOptions::offload_activations", .text = textOf(options.offload_activations)},
          {.name = "PipelineOptions::offload_gradient_accumulation_buffers",
           .text = textOf(options.offload_gradient_accumulation_buffers)},
          {.name = "PipelineOptions::replicated_weight_sharding",
           .text = textOf(options.replicated_weight_sharding)},
          {.name = "PipelineOptions::offload_weights", .text = textOf(options.offload_weights)}};
}

}  // namespace popdist::train
