// SPDX-License-Identifier: Apache-2.0
// Makes the plans of a communicator's collectives in its host's memory, and keeps those of small calls, which
// recur.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "libpopdist/collectives/choice/in_memory.h"
#include "libpopdist/collectives/group/collective_call.h"
#include "libpopdist/collectives/plan/shared_fold.h"
#include "libpopdist/collectives/plan/shared_move.h"
#include "libpopdist/collectives/plan/stage_layout.h"
#include "libpopdist/collectives/plan/staged_plan.h"

namespace popdist::calls {

class SharedPlans {
 public:
  /// `matrix` holds, for a ragged all-to-all, the elements from each rank to each while it is carried out.
  SharedPlans(int rank, int ranks, const plan::StageShape& slots, const std::vector<std::uint64_t>& matrix)
      : rank_(rank), ranks_(ranks), slots_(slots), matrix_(matrix) {}

  /// Calls `run(plan, more)` with the plan of a call, part by part if it is long. Stops when `run` returns
  /// false.
  template <typename Run>
  bool carryOut(const group::CollectiveCall& call, const choice::PlanChoice& chosen, const Run& run) {
    const Key key(keyOf(call).packed(), call.count, chosen.algorithm, chosen.order, chosen.gives);
    if (const auto kept = kept_.find(key); kept != kept_.end() && !call.ragged)
      return run(kept->second, false);
    plan::SharedPlan plan;
    std::unique_ptr<plan::StagedPlan> staged;
    if (chosen.algorithm == choice::SharedAlgorithm::kStaged) {
      staged = stagedPlanFor(call);
      staged->next(plan);
    } else {
      plan = planFor(call, chosen);
    }
    if (!call.ragged && plan.steps.size() <= kKeptSteps) {
      if (kept_.size() >= kKeptPlans) kept_.clear();
      return run(kept_.insert_or_assign(key, std::move(plan)).first->second, false);
    }
    for (; staged && !staged->isOver(); staged->next(plan)) {
      if (!run(plan, true)) return false;
    }
    return run(plan, false);
  }

 private:
  using Key = std::tuple<std::uint64_t, std::size_t, choice::SharedAlgorithm, plan::EagerOrder, bool>;

  static constexpr std::size_t kKeptPlans = 64;
  // Longer plans are made anew: that costs little compared with the data they move.
  static constexpr std::size_t kKeptSteps = 256;
  static_assert(kKeptSteps < plan::StagedPlan::kPartSteps, "a part of a longer plan is not kept");

  plan::SharedPlan planFor(const group::CollectiveCall& call,
                           const choice::PlanChoice& chosen) const;  ///< not a staged one
  std::unique_ptr<plan::StagedPlan> stagedPlanFor(const group::CollectiveCall& call) const;
  plan::FoldRequest foldOf(const group::CollectiveCall& call) const;
  plan::Flows flowsOf(const group::CollectiveCall& call) const;

  const int rank_;
  const int ranks_;
  const plan::StageShape slots_;
  const std::vector<std::uint64_t>& matrix_;
  std::map<Key, plan::SharedPlan> kept_;
};

}  // namespace popdist::calls
