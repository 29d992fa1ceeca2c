// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/pipeline/describe.h"

#include <cmath>

#include "common/base/text.h"
#include "libpopdist/train/schedule/legality.h"

namespace popdist::train {
namespace {

std::string stageList(const Model& model, const Schedule& schedule) {
  std::vector<std::string> levels;
  for (int level = 0; level < schedule.levels(); ++level) {
    std::vector<std::string> stages;
    for (int stage = 0; stage < schedule.stages(); ++stage) {
      if (schedule.levelOf(stage) == level)
        stages.push_back(model.stages[static_cast<std::size_t>(stage)].name + " on IPU " +
                         std::to_string(schedule.ipuOf(stage)));
    }
    levels.push_back(pop::join(stages, " beside "));
  }
  return pop::join(levels, ", ");
}

std::string countRule(const Schedule& schedule) {
  const ScheduleOptions& options = schedule.options();
  if (options.count_rule == CountRule::kAny) return "at least 1";
  if (options.overlap_io) return "at least " + std::to_string(schedule.overlap() + 2);
  if (options.count_rule == CountRule::kPopart) return "at least " + std::to_string(schedule.levels());
  return schedule.overlap() == 1 ? "any count" : "a multiple of " + std::to_string(schedule.overlap());
}

std::string stashText(const Model& model, const Schedule& schedule) {
  std::vector<std::string> stages;
  for (int stage = 0; stage < schedule.stages(); ++stage)
    stages.push_back(model.stages[static_cast<std::size_t>(stage)].name + " " +
                     std::to_string(schedule.stash(stage)));
  return pop::join(stages, ", ");
}

std::string tenthsOfPercent(double part) {
  const long tenths = std::lround(1000 * part);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
}

/// The order of recomputation in words, if some stage has several segments.
std::string segmentText(const Model& model, const Schedule& schedule) {
  if (!schedule.options().recompute || model.parts.size() == model.stages.size()) return "";
  return std::string("recomputes ") +
         (schedule.recomputesBySegment()
              ? "segment by segment: what one saves is there at a time\n"
              : "whole stages: what all segments of one save is there at a time\n");
}

}  // namespace

std::string describe(const Model& model, const Schedule& schedule, StoredBytes stored) {
  const bool recompute = schedule.options().recompute;
  const Simulation balanced = simulate(schedule, {.stages = {StageTimes{}}});
  std::string text = "stages: " + stageList(model, schedule) + "\n";
  text += "schedule: " + nameOf(schedule.options().kind) + ", " + std::to_string(schedule.microBatches()) +
          (model.training ? " micro-batches for each update" : " micro-batches") + " (" +
          countRule(schedule) + ")\n";
  text += "stash, in micro-batches: " + stashText(model, schedule) + "\n";
  text += "idle if stages are alike and a backward takes two forwards: " + tenthsOfPercent(balanced.bubble) +
          "\n";
  text += segmentText(model, schedule);
  text += "stored: " + pop::sizeText(recompute ? stored.with_recomputation : stored.without_recomputation);
  if (!model.training) return text + "\n";
  return text + (recompute
                     ? " with recomputation, " + pop::sizeText(stored.without_recomputation) + " without\n"
                     : ", " + pop::sizeText(stored.with_recomputation) + " with recomputation\n");
}

}  // namespace popdist::train
