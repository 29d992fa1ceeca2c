// SPDX-License-Identifier: Apache-2.0
// What a staged plan holds of its steps at a time does not grow with the vector, whatever the operation and
// the ranks.
#include "libpopdist/collectives/plan/staged_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "libpopdist/collectives/plan/shared_fold.h"
#include "libpopdist/collectives/plan/shared_move.h"
#include "libpopdist/collectives/plan/stage_layout.h"

namespace popdist::plan {
namespace {

constexpr std::size_t kLongBytes = std::size_t{1} << 30;

struct Walked {
  std::size_t most_held = 0;  ///< steps
  std::size_t parts = 0;
  std::uint64_t chunks = 0;
};

Walked walk(const std::unique_ptr<StagedPlan>& staged) {
  Walked walked;
  for (SharedPlan part; !staged->isOver(); ++walked.parts) {
    staged->next(part);
    walked.most_held = std::max(walked.most_held, part.steps.capacity());
    walked.chunks += part.chunks;
  }
  return walked;
}

class StagedPlans : public ::testing::TestWithParam<int> {
 protected:
  static int ranks() { return GetParam(); }
  static StageShape slots() { return stageLayoutFor(ranks()).slots; }

  /// A turn moves what each rank has of a chunk on: there and back, with what ranks wait for.
  static void expectFewSteps(const std::unique_ptr<StagedPlan>& staged) {
    const Walked walked = walk(staged);
    const std::size_t of_a_turn = 2 * static_cast<std::size_t>(ranks()) + 8;
    EXPECT_LE(walked.most_held, 2 * (StagedPlan::kPartSteps + of_a_turn));
    EXPECT_GT(walked.parts, 1U);
    EXPECT_GE(walked.chunks * slots().slot_bytes, kLongBytes / 2);
  }
};

TEST_P(StagedPlans, OfReductionsHoldFewStepsHoweverLongTheVector) {
  for (const FoldGoal goal : {FoldGoal::kAllReduce, FoldGoal::kReduceScatter, FoldGoal::kReduce}) {
    SCOPED_TRACE(static_cast<int>(goal));
    expectFewSteps(stagedFold({.goal = goal, .rank = 1, .ranks = ranks(), .count = kLongBytes}, slots()));
  }
}

TEST_P(StagedPlans, OfMovesHoldFewStepsHoweverLongTheVector) {
  const auto n = static_cast<std::size_t>(ranks());
  expectFewSteps(stagedMove(broadcastFlows(ranks(), kLongBytes, 0), 1, slots()));
  expectFewSteps(stagedMove(allGatherFlows(std::vector(n, kLongBytes)), 1, slots()));
  expectFewSteps(stagedMove(allToAllFlows(ranks(), std::vector(n * n, kLongBytes / n)), 1, slots()));
}

INSTANTIATE_TEST_SUITE_P(Ranks, StagedPlans, ::testing::Values(2, 8, 64, 300),
                         [](const auto& tested) { return "Of" + std::to_string(tested.param); });

TEST(ShortStagedPlans, AreInOnePart) {
  for (const int ranks : {2, 8, 64}) {
    const StageShape slots = stageLayoutFor(ranks).slots;
    EXPECT_EQ(walk(stagedFold({.ranks = ranks, .count = slots.slot_bytes}, slots)).parts, 1U);
  }
}

}  // namespace
}  // namespace popdist::plan
