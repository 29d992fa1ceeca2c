// SPDX-License-Identifier: Apache-2.0
// Forward of micro-batch m at level l: timestep period * m + l. Backward: period * m + 2 * levels - 1 - l.
// The kinds differ in nothing but the period: 1 (Grouped), 2 (Interleaved), 2 * levels (Sequential).
#include "popdist/schedule.hpp"

#include <algorithm>

#include "libpopdist/src/tensor/error_edge.h"
#include "libpopdist/src/train/schedule/legality.h"
#include "libpopdist/src/train/schedule/mapping.h"

namespace popdist::train {
namespace {

constexpr std::int64_t kMostActions = std::int64_t{1} << 24;

}  // namespace

std::string textOf(const Action& action) {
  switch (action.kind) {
    case ActionKind::kForward:
      return "F" + std::to_string(action.micro_batch);
    case ActionKind::kRecompute:
      return "R" + std::to_string(action.micro_batch);
    case ActionKind::kBackward:
      return "B" + std::to_string(action.micro_batch);
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
  throwIfError(checkCountIsLegal(options_, options_.gradient_accumulation_count), "Schedule");
  const std::int64_t most_actions = options_.gradient_accumulation_count * stagesOf(options_) * 3;
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
  timesteps_ = period_ * (microBatches() - 1) + per_micro_batch;
  for (int stage = 0; stage < stages(); ++stage) {
    // What is the IPU's next action after the forward needs no recomputation: the activations are still
    // there.
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
  return (lifetime + period_ - 1) / period_;
}

int Schedule::overlap() const {
  return overlapOf(options_);
}

void Schedule::addActions() {
  const int last_backward = 2 * levels() - 1;
  const auto micro_batch_at = [&](int timestep, int offset) {
    const int since = timestep - offset;
    const bool is_there = since >= 0 && since % period_ == 0 && since / period_ < microBatches();
    return is_there ? since / period_ : -1;
  };
  const auto add = [&](ActionKind kind, int stage, int micro_batch, int timestep) {
    order_.push_back({kind, ipuOf(stage), stage, micro_batch, timestep});
  };
  order_.reserve(static_cast<std::size_t>(microBatches()) * static_cast<std::size_t>(stages()) * 2);
  for (int timestep = 0; timestep < timesteps_; ++timestep) {
    for (int stage = 0; options_.training && stage < stages(); ++stage) {
      const int m = micro_batch_at(timestep, last_backward - levelOf(stage));
      if (m < 0) continue;
      if (recomputes(stage)) add(ActionKind::kRecompute, stage, m, timestep);
      add(ActionKind::kBackward, stage, m, timestep);
    }
    for (int stage = 0; stage < stages(); ++stage) {
      const int m = micro_batch_at(timestep, levelOf(stage));
      if (m >= 0) add(ActionKind::kForward, stage, m, timestep);
    }
  }
  if (!options_.training) return;
  std::vector<int> ipus = ipu_of_;
  std::sort(ipus.begin(), ipus.end());
  ipus.erase(std::unique(ipus.begin(), ipus.end()), ipus.end());
  for (const int ipu : ipus) order_.push_back({ActionKind::kUpdate, ipu, -1, -1, timesteps_});
}

std::vector<Action> Schedule::actionsOf(int ipu) const {
  std::vector<Action> actions;
  for (const Action& action : order_) {
    if (action.ipu == ipu) actions.push_back(action);
  }
  return actions;
}

}  // namespace popdist::train
