// SPDX-License-Identifier: Apache-2.0
// Plans through the stages have steps for each chunk of the vector: all of a long one would take memory as
// the vector does. So they are made part by part, each when the one before it has been carried out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "libpopdist/src/plan/shared_plan.h"

namespace popdist::plan {

class StagedPlan {
 public:
  /// A part ends with the turn that brings it to so many steps: some 30 KiB.
  static constexpr std::size_t kPartSteps = 512;

  StagedPlan(const StagedPlan&) = delete;
  StagedPlan& operator=(const StagedPlan&) = delete;
  virtual ~StagedPlan() = default;

  /// Makes `part` the next one, in the memory that it has. All of them, one behind the other, are the plan:
  /// the last one says by how much counters have grown.
  void next(SharedPlan& part);
  bool isOver() const { return turn_ == turns_; }

 protected:
  /// In each turn another chunk sets out, and those of the turns before get one move on: the last one arrives
  /// `lag` turns after it has set out. There are at least `lag` + 1 turns, whatever there is to move.
  StagedPlan(std::uint64_t chunks, std::uint64_t lag);

  virtual void addTurn(std::uint64_t turn) = 0;

  /// Whether there is a chunk that has set out `before` turns ago.
  bool isUnderWay(std::uint64_t turn, std::uint64_t before) const {
    return turn >= before && turn - before < chunks_;
  }

  void add(const SharedStep& step) {
    if (step.bytes > 0) steps_.push_back(step);
  }
  void meet() { steps_.push_back({.kind = SharedStepKind::kMeet}); }
  void post(Counter counter, std::uint64_t value);
  void await(Counter counter, std::uint64_t value);
  /// Until nobody looks any more at what the chunk's slot held before.
  void awaitSlot(std::uint64_t chunk, const StageShape& shape);

 private:
  const std::uint64_t chunks_;
  const std::uint64_t turns_;
  std::uint64_t turn_ = 0;
  std::vector<SharedStep> steps_;
};

}  // namespace popdist::plan
