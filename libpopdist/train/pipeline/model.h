// SPDX-License-Identifier: Apache-2.0
// The stages of a pipeline in a flat list, checked, with the names and types of all that goes between them.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"
#include "popdist/pipeline.hpp"

namespace popdist::train {

/// A segment of a stage, in the list of all.
struct StagePart {
  int stage = 0;
  Segment segment;
  Spec inputs;
  Spec saved;
  bool is_first = true;  ///< the first part of its stage
  bool is_last = true;
};

struct Model {
  PipelineOptions options;
  std::vector<Stage> stages;         ///< with the outputs of their last segments
  std::vector<StagePart> parts;      ///< stage by stage
  std::vector<int> part_begin;       ///< the first part of each stage, and one more
  std::vector<int> level_begin;      ///< the first stage of each level, and one more
  std::vector<Spec> level_inputs;    ///< one for each level
  Spec outputs;                      ///< the last level's
  Spec sent;                         ///< those for the outfeed
  std::vector<std::size_t> sent_at;  ///< their positions in outputs
  bool training = false;

  int levels() const { return static_cast<int>(level_begin.size()) - 1; }
  int firstPartOf(int stage) const { return part_begin[static_cast<std::size_t>(stage)]; }
  int endOfParts(int stage) const { return part_begin[static_cast<std::size_t>(stage) + 1]; }
};

/// Errors name the stage, the tensor or the option, the rule and a way out.
pop::Result<Model> makeModel(PipelineOptions options);

/// Options for the model's schedule.
ScheduleOptions scheduleOptions(const Model& model);

/// Stages that share a parameter are on one IPU, and not side by side.
pop::Status checkSharedParameters(const Model& model, const Schedule& schedule);

/// "stages 'a' and 'b'"
std::string pairText(const Stage& one, const Stage& other);

bool hasGradient(Type type);

}  // namespace popdist::train
