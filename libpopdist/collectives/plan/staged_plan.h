// SPDX-License-Identifier: Apache-2.0
// Plans through the stages have steps for each chunk of the vector, so the plan of a long vector would take
// much memory. They are made in parts, each after the one before it has been carried out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "libpopdist/collectives/plan/shared_plan.h"

namespace popdist::plan {

class StagedPlan {
 public:
  /// A part ends with the turn that brings it to this many steps: some 30 KiB.
  static constexpr std::size_t kPartSteps = 512;

  StagedPlan(const StagedPlan&) = delete;
  StagedPlan& operator=(const StagedPlan&) = delete;
  virtual ~StagedPlan() = default;

  /// Makes `part` the next part, reusing its memory. All parts together are the plan; the last one holds by
  /// how much counters have grown.
  void next(SharedPlan& part);
  bool isOver() const { return turn_ == turns_; }

 protected:
  /// In each turn another chunk starts, and those of the turns before advance by one stage: a chunk is done
  /// `lag` turns after its start. There are at least `lag` + 1 turns, even without data.
  StagedPlan(std::uint64_t chunks, std::uint64_t lag);

  virtual void addTurn(std::uint64_t turn) = 0;

  /// True if a chunk started `before` turns ago.
  bool isUnderWay(std::uint64_t turn, std::uint64_t before) const {
    return turn >= before && turn - before < chunks_;
  }

  void add(const SharedStep& step) {
    if (step.bytes > 0) steps_.push_back(step);
  }
  void meet() { steps_.push_back({.kind = SharedStepKind::kMeet}); }
  void post(Counter counter, std::uint64_t value);
  void await(Counter counter, std::uint64_t value);
  /// Waits until no rank reads any more what the chunk's slot held before.
  void awaitSlot(std::uint64_t chunk, const StageShape& shape);

 private:
  const std::uint64_t chunks_;
  const std::uint64_t turns_;
  std::uint64_t turn_ = 0;
  std::vector<SharedStep> steps_;
};

}  // namespace popdist::plan
