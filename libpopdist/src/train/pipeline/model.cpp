// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/train/pipeline/model.h"

#include <algorithm>
#include <map>
#include <set>

#include "common/base/text.h"
#include "libpopdist/src/tensor/spec.h"

namespace popdist::train {
namespace {

using pop::inQuotes;
using pop::invalidArgument;
using pop::Result;
using pop::Status;

std::string stageText(const Stage& stage) {
  return "stage " + inQuotes(stage.name);
}

Status checkParameters(const Stage& stage, const Spec& parameters) {
  std::set<std::size_t> seen;
  for (const std::size_t position : stage.parameters) {
    if (position >= parameters.size())
      return invalidArgument(
          stageText(stage) + " has parameter " + std::to_string(position) + ", and there are " +
          std::to_string(parameters.size()) +
          ": positions are those that Parameters::add returned, and PipelineOptions::parameters "
          "is Parameters::spec()");
    if (!seen.insert(position).second)
      return invalidArgument(stageText(stage) + " lists parameter " + inQuotes(parameters[position].name) +
                             " twice");
  }
  return {};
}

Status checkStage(const Stage& stage, const PipelineOptions& options, bool training) {
  if (stage.name.empty())
    return invalidArgument("a stage has no name: set Stage::name, which errors then say");
  if (!stage.forward) return invalidArgument(stageText(stage) + " has no forward");
  if (training != static_cast<bool>(stage.backward))
    return invalidArgument(stageText(stage) + (training ? " has no backward" : " has a backward") +
                           ", and others have " + (training ? "one" : "none") +
                           ": a pipeline is trained by the backwards of all stages, or has none");
  POP_RETURN_IF_ERROR(checkParameters(stage, options.parameters));
  POP_RETURN_IF_ERROR(tensor::checkSpec(stage.outputs).during("reading the outputs of " + stageText(stage)));
  Spec saved;
  for (const Saved& one : stage.saved) saved.push_back(one.tensor);
  return tensor::checkSpec(saved).during("reading what " + stageText(stage) + " saves");
}

/// Adds the outputs of a level's stages to `inputs` of the next level.
Status addOutputs(const std::vector<Stage>& side_by_side, Spec& inputs) {
  std::map<std::string, const Stage*> made_by;
  for (const Stage& stage : side_by_side) {
    for (const TensorSpec& output : stage.outputs) {
      const auto [other, fresh] = made_by.emplace(output.name, &stage);
      if (!fresh)
        return invalidArgument(pairText(*other->second, stage) +
                               " run side by side and both have an output " + inQuotes(output.name) +
                               ": the next stage gets both, so give them different names");
      inputs.push_back(output);
    }
  }
  return {};
}

Status addStages(Model& model) {
  std::set<std::string> names;
  model.level_begin.push_back(0);
  for (const Concurrent& level : model.options.stages) {
    for (const Stage& stage : level.stages) {
      POP_RETURN_IF_ERROR(checkStage(stage, model.options, model.training));
      if (!names.insert(stage.name).second)
        return invalidArgument("two stages are called " + inQuotes(stage.name) + ": names differ");
      Spec saved;
      for (const Saved& one : stage.saved) saved.push_back(one.tensor);
      model.stages.push_back(stage);
      model.saved.push_back(std::move(saved));
    }
    model.level_begin.push_back(static_cast<int>(model.stages.size()));
    Spec next;
    POP_RETURN_IF_ERROR(addOutputs(level.stages, next));
    model.level_inputs.push_back(std::move(next));
  }
  model.outputs = std::move(model.level_inputs.back());
  model.level_inputs.pop_back();
  return {};
}

Status checkOutfeed(const Model& model) {
  const PipelineOptions& options = model.options;
  const bool has_loss = std::any_of(model.outputs.begin(), model.outputs.end(),
                                    [&](const TensorSpec& output) { return output.name == options.loss; });
  if (!options.loss.empty() && !has_loss)
    return invalidArgument("loss is " + inQuotes(options.loss) + ", and the last stage's outputs are " +
                           textOf(model.outputs));
  if (!options.outfeed_loss && options.outfeed_mask.empty()) return {};
  const std::string option = options.outfeed_loss ? "outfeed_loss" : "outfeed_mask";
  if (options.outfeed_loss && !options.outfeed_mask.empty())
    return invalidArgument("outfeed_loss and outfeed_mask are both set: set one of them");
  if (!model.training)
    return invalidArgument(option +
                           " is set, and no stage has a backward: a pipeline that is not trained sends all "
                           "outputs");
  if (options.outfeed_loss && options.loss.empty())
    return invalidArgument("outfeed_loss is set, and loss is not: name one of the last stage's outputs, " +
                           textOf(model.outputs));
  if (!options.outfeed_loss && options.outfeed_mask.size() != model.outputs.size())
    return invalidArgument("outfeed_mask has length " + std::to_string(options.outfeed_mask.size()) +
                           ", and the last stage has " +
                           pop::counted(static_cast<std::int64_t>(model.outputs.size()), "output") + " (" +
                           textOf(model.outputs) + "): it needs one entry for each");
  return {};
}

void chooseSent(Model& model) {
  for (std::size_t i = 0; i < model.outputs.size(); ++i) {
    const bool masked = !model.options.outfeed_mask.empty() && model.options.outfeed_mask[i];
    if (masked || (model.options.outfeed_loss && model.outputs[i].name != model.options.loss)) continue;
    model.sent.push_back(model.outputs[i]);
    model.sent_at.push_back(i);
  }
}

}  // namespace

std::string pairText(const Stage& one, const Stage& other) {
  return "stages " + inQuotes(one.name) + " and " + inQuotes(other.name);
}

bool hasGradient(Type type) {
  return type == Type::kFloat || type == Type::kDouble || type == Type::kHalf || type == Type::kBfloat16;
}

Result<Model> makeModel(PipelineOptions options) {
  Model model;
  model.options = std::move(options);
  if (model.options.stages.empty())
    return invalidArgument("a pipeline has 0 stages: it needs at least 2, one after the other");
  for (const Concurrent& level : model.options.stages) {
    for (const Stage& stage : level.stages) model.training = model.training || stage.backward;
  }
  Spec first = model.options.inputs;
  first.insert(first.end(), model.options.arguments.begin(), model.options.arguments.end());
  POP_RETURN_IF_ERROR(tensor::checkSpec(first).during("reading inputs and arguments"));
  POP_RETURN_IF_ERROR(tensor::checkSpec(model.options.parameters).during("reading parameters"));
  model.level_inputs.push_back(std::move(first));
  POP_RETURN_IF_ERROR(addStages(model));
  POP_RETURN_IF_ERROR(checkOutfeed(model));
  chooseSent(model);
  return model;
}

ScheduleOptions scheduleOptions(const Model& model) {
  const PipelineOptions& options = model.options;
  ScheduleOptions result{.levels = {},
                         .device_mapping = options.device_mapping,
                         .ipus = options.ipus,
                         .gradient_accumulation_count = options.gradient_accumulation_count,
                         .kind = options.schedule,
                         .training = model.training,
                         .recompute = options.recompute,
                         .recompute_mode = options.recompute_mode,
                         .explicit_checkpoints = false,
                         .overlap_io = options.overlap_io,
                         .count_rule = options.count_rule};
  for (const Concurrent& level : options.stages)
    result.levels.push_back(static_cast<int>(level.stages.size()));
  for (const Stage& stage : model.stages) {
    for (const Saved& saved : stage.saved)
      result.explicit_checkpoints = result.explicit_checkpoints || saved.keep == Keep::kCheckpoint;
  }
  result.explicit_checkpoints = result.explicit_checkpoints && options.recompute;
  return result;
}

Status checkSharedParameters(const Model& model, const Schedule& schedule) {
  std::map<std::size_t, int> first_user;
  for (int stage = 0; stage < schedule.stages(); ++stage) {
    for (const std::size_t position : model.stages[static_cast<std::size_t>(stage)].parameters) {
      const auto [user, fresh] = first_user.emplace(position, stage);
      if (fresh) continue;
      const int other = user->second;
      const std::string what = pairText(model.stages[static_cast<std::size_t>(other)],
                                        model.stages[static_cast<std::size_t>(stage)]) +
                               " share the parameter " + inQuotes(model.options.parameters[position].name);
      if (schedule.levelOf(other) == schedule.levelOf(stage))
        return invalidArgument(what + " and run side by side: put them one after the other");
      if (schedule.ipuOf(other) != schedule.ipuOf(stage))
        return invalidArgument(what + " and are on IPUs " + std::to_string(schedule.ipuOf(other)) + " and " +
                               std::to_string(schedule.ipuOf(stage)) +
                               ": put them on one IPU by device_mapping");
    }
  }
  return {};
}

}  // namespace popdist::train
