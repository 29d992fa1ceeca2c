// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/pipeline/model.h"

#include <algorithm>
#include <map>
#include <set>

#include "common/base/text.h"
#include "libpopdist/data/tensor/spec.h"

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

/// A segment, or a stage that has none: `who` says which.
Status checkSegment(const Segment& segment, const std::string& who, bool training) {
  if (!segment.forward) return invalidArgument(who + " has no forward");
  if (training != static_cast<bool>(segment.backward))
    return invalidArgument(who + (training ? " has no backward" : " has a backward") + ", and others have " +
                           (training ? "one" : "none") +
                           ": a pipeline is trained by the backwards of all stages, or has none");
  POP_RETURN_IF_ERROR(tensor::checkSpec(segment.outputs).during("reading the outputs of " + who));
  Spec saved;
  for (const Saved& one : segment.saved) saved.push_back(one.tensor);
  return tensor::checkSpec(saved).during("reading what " + who + " saves");
}

Status checkStage(const Stage& stage, const PipelineOptions& options) {
  if (stage.name.empty())
    return invalidArgument("a stage has no name: set Stage::name, which errors then say");
  if (!stage.segments.empty() &&
      (stage.forward || stage.backward || !stage.outputs.empty() || !stage.saved.empty()))
    return invalidArgument(stageText(stage) +
                           " has segments, and forward, backward, outputs or saved besides: set them in the "
                           "segments alone");
  return checkParameters(stage, options.parameters);
}

/// Segments of the stage; of one without, the stage itself.
std::vector<Segment> segmentsOf(const Stage& stage) {
  if (!stage.segments.empty()) return stage.segments;
  return {{stage.outputs, stage.saved, stage.forward, stage.backward}};
}

Status addParts(Model& model, const Stage& stage) {
  const std::vector<Segment> segments = segmentsOf(stage);
  model.part_begin.push_back(static_cast<int>(model.parts.size()));
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::string who =
        (segments.size() > 1 ? "segment " + std::to_string(i) + " of " : "") + stageText(stage);
    POP_RETURN_IF_ERROR(checkSegment(segments[i], who, model.training));
    StagePart part{.stage = static_cast<int>(model.stages.size()),
                   .segment = segments[i],
                   .is_first = i == 0,
                   .is_last = i + 1 == segments.size()};
    part.inputs = i == 0 ? model.level_inputs.back() : segments[i - 1].outputs;
    for (const Saved& one : segments[i].saved) part.saved.push_back(one.tensor);
    model.parts.push_back(std::move(part));
  }
  // The parts have the functions, and whatever memory these own.
  model.stages.push_back(
      {.name = stage.name, .parameters = stage.parameters, .outputs = segments.back().outputs});
  return {};
}

/// Adds the outputs of a level's stages to `inputs` of the next level.
Status addOutputs(std::span<const Stage> side_by_side, Spec& inputs) {
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
      POP_RETURN_IF_ERROR(checkStage(stage, model.options));
      if (!names.insert(stage.name).second)
        return invalidArgument("two stages are called " + inQuotes(stage.name) + ": names differ");
      POP_RETURN_IF_ERROR(addParts(model, stage));
    }
    const std::span<const Stage> all(model.stages);
    model.level_begin.push_back(static_cast<int>(model.stages.size()));
    Spec next;
    POP_RETURN_IF_ERROR(addOutputs(all.last(level.stages.size()), next));
    model.level_inputs.push_back(std::move(next));
  }
  model.part_begin.push_back(static_cast<int>(model.parts.size()));
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

Status checkStageOptions(const Model& model, const char* name, const std::vector<StageOptions>& options) {
  if (options.empty() || options.size() == model.stages.size()) return {};
  return invalidArgument(std::string(name) + " has length " + std::to_string(options.size()) +
                         ", and there are " +
                         pop::counted(static_cast<std::int64_t>(model.stages.size()), "stage") +
                         ": it needs one entry for each, in their order");
}

Status checkPlacement(const Model& model) {
  const PipelineOptions& options = model.options;
  if (options.continuous_weight_updates)
    return invalidArgument(
        "continuous_weight_updates is set, which no version of the operator has implemented: leave it out; "
        "weights change once for each run");
  if (options.offload_weights == Offload::kOn && options.replicated_weight_sharding == Offload::kOff)
    return invalidArgument(
        "offload_weights is on, and replicated_weight_sharding is off: only sharded weights are offloaded; "
        "set it to kOn or kAuto");
  if (!model.training && !options.backward_propagation_stages_poplar_options.empty())
    return invalidArgument(
        "backward_propagation_stages_poplar_options is set, and no stage has a backward: leave it out");
  POP_RETURN_IF_ERROR(checkStageOptions(model, "forward_propagation_stages_poplar_options",
                                        options.forward_propagation_stages_poplar_options));
  return checkStageOptions(model, "backward_propagation_stages_poplar_options",
                           options.backward_propagation_stages_poplar_options);
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
    for (const Stage& stage : level.stages) {
      for (const Segment& segment : segmentsOf(stage)) model.training = model.training || segment.backward;
    }
  }
  Spec first = model.options.inputs;
  first.insert(first.end(), model.options.arguments.begin(), model.options.arguments.end());
  POP_RETURN_IF_ERROR(tensor::checkSpec(first).during("reading inputs and arguments"));
  POP_RETURN_IF_ERROR(tensor::checkSpec(model.options.parameters).during("reading parameters"));
  model.level_inputs.push_back(std::move(first));
  POP_RETURN_IF_ERROR(addStages(model));
  POP_RETURN_IF_ERROR(checkOutfeed(model));
  POP_RETURN_IF_ERROR(checkPlacement(model));
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
                         .segments = {},
                         .batch_serialization_iterations = options.batch_serialization_iterations,
                         .overlap_io = options.overlap_io,
                         .count_rule = options.count_rule};
  for (const Concurrent& level : options.stages)
    result.levels.push_back(static_cast<int>(level.stages.size()));
  for (std::size_t stage = 0; stage < model.stages.size(); ++stage)
    result.segments.push_back(model.part_begin[stage + 1] - model.part_begin[stage]);
  for (const StagePart& part : model.parts) {
    for (const Saved& saved : part.segment.saved)
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
