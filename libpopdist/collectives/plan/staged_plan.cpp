// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/plan/staged_plan.h"

#include <algorithm>

namespace popdist::plan {

StagedPlan::StagedPlan(std::uint64_t chunks, std::uint64_t lag)
    : chunks_(chunks), turns_(std::max<std::uint64_t>(chunks, 1) + lag) {}

void StagedPlan::next(SharedPlan& part) {
  steps_.swap(part.steps);
  steps_.clear();
  while (!isOver() && steps_.size() < kPartSteps) addTurn(turn_++);
  steps_.swap(part.steps);
  part.chunks = isOver() ? chunks_ : 0;
}

void StagedPlan::post(Counter counter, std::uint64_t value) {
  steps_.push_back(
      {.kind = SharedStepKind::kPost, .counter = counter, .value = static_cast<std::int64_t>(value)});
}

void StagedPlan::await(Counter counter, std::uint64_t value) {
  steps_.push_back(
      {.kind = SharedStepKind::kAwait, .counter = counter, .value = static_cast<std::int64_t>(value)});
}

void StagedPlan::awaitSlot(std::uint64_t chunk, const StageShape& shape) {
  steps_.push_back({.kind = SharedStepKind::kAwait,
                    .counter = Counter::kDone,
                    .value = static_cast<std::int64_t>(chunk + 1) - static_cast<std::int64_t>(shape.slots)});
}

}  // namespace popdist::plan
