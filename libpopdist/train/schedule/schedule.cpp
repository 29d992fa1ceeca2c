// SPDX-License-Identifier: Apache-2.0
// Forward of micro-batch m at level l: timestep period * m + l. Backward: period * m + 2 * levels - 1 - l.
// The kinds differ in nothing but the period: 1 (Grouped), 2 (Interleaved), 2 * levels (Sequential).
#include "popdist/schedule.hpp"

#include <algorithm>
#include <utility>

#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/train/schedule/legality.h"
#include "libpopdist/train/schedule/mapping.h"

namespace popdist::train {
namespace {

constexpr std::int64_t kMostActions = std::int64_t{1} << 24;

/// Actions of one micro-batch, at most: a forward of each stage, and each segment again and backwards.
std::int64_t actionsOfMicroBatch(const ScheduleOptions& options) {
  std::int64_t segments = stagesOf(options);
  for (const int each : options.segments) segments += each - 1;
  return stagesOf(options) + 2 * segments;
}

}  // namespace

std::string textOf(const Action& action) {
  const std::string which =
      std::to_string(action.micro_batch) + (action.segment < 0 ? "" : "." + std::to_string(action.segment));
  switch (action.kind) {
    case ActionKind::kForward:
      return "F" + which;
    case ActionKind::kRecompute:
      return "R" + which;
    case ActionKind::kBackward:
      return "B" + which;
    case ActionKind::kUpdate:
      break;
  }
  return "U";
}

void checkCount(const ScheduleOptions& options, std::int64_t count) {
  throwIfError(checkShape(options), "Schedule");
  throwIfError(checkCountIsLegal(options, count), "Schedule");
}

Schedule::Schedule(ScheduleOptions options) : options_(std::move(options)) {
  throwIfError(checkShape(options_), "Schedule");
  if (options_.device_mapping.empty()) options_.device_mapping = shortestMapping(options_.levels);
  throwIfError(checkMapping(options_), "Schedule");
  throwIfError(checkRecomputation(options_), "Schedule");
  throwIfError(checkBatchSerialization(options_), "Schedule");
  throwIfError(checkCountIsLegal(options_, options_.gradient_accumulation_count), "Schedule");
  const std::int64_t most_actions = options_.gradient_accumulation_count * actionsOfMicroBatch(options_);
  if (most_actions > kMostActions)
    throwIfError(
        {pop::Code::kResourceExhausted,
         "gradient_accumulation_count is " + std::to_string(options_.gradient_accumulation_count) +
             ", so the schedule has up to " + std::to_string(most_actions) + " actions, and at most " +
             std::to_string(kMostActions) + " are kept: take fewer and larger micro-batches"},
        "Schedule");
  placeStages();
  addActions();
}

void Schedule::placeStages() {
  for (std::size_t level = 0; level < options_.levels.size(); ++level) {
    for (const int ipu : options_.device_mapping[level].ipus) {
      level_of_.push_back(static_cast<int>(level));
      ipu_of_.push_back(ipu);
      ipus_ = std::max(ipus_, ipu + 1);
    }
  }
  ipus_ = std::max(ipus_, options_.ipus);
  period_ = periodOf(options_);
  const int per_micro_batch = options_.training ? 2 * levels() : levels();
  const int entries = microBatches() / options_.batch_serialization_iterations;
  timesteps_ = period_ * (entries - 1) + per_micro_batch;
  for (int stage = 0; stage < stages(); ++stage) {
    // A backward that is the IPU's next action after the forward needs no recomputation: the activations are
    // still there.
    const auto on_same_ipu = [&](int other) { return other != stage && ipuOf(other) == ipuOf(stage); };
    bool alone = true;
    for (int other = 0; other < stages(); ++other) {
      if (on_same_ipu(other) &&
          (options_.kind != ScheduleKind::kSequential || levelOf(other) >= levelOf(stage)))
        alone = false;
    }
    recomputes_.push_back(options_.training && options_.recompute && !(alone && slots(stage) == 1));
  }
}

int Schedule::slots(int stage) const {
  // Timesteps from the forward to the last action that needs its results.
  const int level = levelOf(stage);
  int lifetime = 1;
  if (options_.training)
    lifetime = 2 * levels() - 1 - 2 * level;
  else if (level + 1 < levels())
    lifetime = 2;  // the next level reads while this one writes
  return (lifetime + period_ - 1) / period_ * options_.batch_serialization_iterations;
}

bool Schedule::recomputesBySegment() const {
  return options_.recompute && modeOf(options_) == RecomputeMode::kAndBackpropagateInterleaved;
}

int Schedule::overlap() const {
  return overlapOf(options_);
}

void Schedule::add(ActionKind kind, int stage, int micro_batch, int timestep, int segment) {
  order_.push_back({kind, ipuOf(stage), stage, micro_batch, timestep, segment});
}

void Schedule::addBackward(int stage, int micro_batch, int timestep) {
  const int segments = segmentsOf(stage);
  if (segments == 1 || !recomputesBySegment()) {
    if (recomputes(stage)) add(ActionKind::kRecompute, stage, micro_batch, timestep);
    add(ActionKind::kBackward, stage, micro_batch, timestep);
    return;
  }
  for (int segment = segments - 1; segment >= 0; --segment) {
    // A stage that need not recompute has the last segment's activations still there, and no others.
    if (recomputes(stage) || segment + 1 < segments)
      add(ActionKind::kRecompute, stage, micro_batch, timestep, segment);
    add(ActionKind::kBackward, stage, micro_batch, timestep, segment);
  }
}

void Schedule::addActions() {
  const int last_backward = 2 * levels() - 1;
  const int together = options_.batch_serialization_iterations;
  const int entries = microBatches() / together;
  // Micro-batches at a stage that has its first `offset` timesteps after they enter: [first, end).
  const auto micro_batches_at = [&](int timestep, int offset) {
    const int since = timestep - offset;
    const bool are_there = since >= 0 && since % period_ == 0 && since / period_ < entries;
    const int first = are_there ? since / period_ * together : 0;
    return std::pair(first, are_there ? first + together : 0);
  };
  order_.reserve(static_cast<std::size_t>(microBatches()) * static_cast<std::size_t>(stages()) * 2);
  for (int timestep = 0; timestep < timesteps_; ++timestep) {
    for (int stage = 0; options_.training && stage < stages(); ++stage) {
      const auto [first, end] = micro_batches_at(timestep, last_backward - levelOf(stage));
      for (int m = first; m < end; ++m) addBackward(stage, m, timestep);
    }
    for (int stage = 0; stage < stages(); ++stage) {
      const auto [first, end] = micro_batches_at(timestep, levelOf(stage));
      for (int m = first; m < end; ++m) add(ActionKind::kForward, stage, m, timestep);
    }
  }
  if (!options_.training) return;
  std::vector<int> ipus = ipu_of_;
  std::sort(ipus.begin(), ipus.end());
  ipus.erase(std::unique(ipus.begin(), ipus.end()), ipus.end());
  for (const int ipu : ipus) order_.push_back({ActionKind::kUpdate, ipu, -1, -1, timesteps_, -1});
}

std::vector<Action> Schedule::actionsOf(int ipu) const {
  std::vector<Action> actions;
  for (const Action& action : order_) {
    if (action.ipu == ipu) actions.push_back(action);
  }
  return actions;
}

}  // namespace popdist::train
