// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/plan/shared_fold.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "tests/unit/libpopdist/collectives/plan/shared_samples.h"

namespace popdist::plan {
namespace {

std::vector<std::size_t> countsAround(const StageShape& shape, std::size_t element_bytes) {
  std::vector<std::size_t> counts{0, 1, 3};
  for (const std::size_t bytes :
       {std::size_t{64}, shape.slot_bytes, 3 * shape.slot_bytes, 8 * shape.slot_bytes})
    counts.insert(counts.end(),
                  {bytes / element_bytes - 1, bytes / element_bytes, bytes / element_bytes + 1});
  return counts;
}

class SharedFold : public ::testing::TestWithParam<std::tuple<SharedWay, FoldGoal, int>> {};

TEST_P(SharedFold, ReducesInOrderOfRankWithoutRaces) {
  const auto [way, goal, ranks] = GetParam();
  const StageLayout layout = smallLayout(ranks);
  const StageShape& shape = layout.slots;
  pop::SplitMix64 random(17);
  for (const std::size_t element_bytes : {1U, 2U, 8U}) {
    if (ranks > 5 && element_bytes != 2) continue;
    for (const std::size_t count : countsAround(shape, element_bytes)) {
      const FoldRequest request{.goal = goal,
                                .ranks = ranks,
                                .count = count,
                                .element_bytes = element_bytes,
                                .root = static_cast<int>(random.below(static_cast<std::uint64_t>(ranks)))};
      const std::size_t exported =
          count * element_bytes * static_cast<std::size_t>(goal == FoldGoal::kReduceScatter ? ranks : 1);
      if (way == SharedWay::kEager && exported > layout.eager_bytes) continue;
      if (exported > (ranks > 9 ? 8'000 : 20'000)) continue;
      const SharedSample sample = foldSample(way, request, layout, count % 2 == 1, random);
      ASSERT_EQ(runSamples({sample}, ranks, layout, count), "")
          << count << " elements of " << element_bytes << " bytes";
    }
  }
}

std::string nameOfCase(const ::testing::TestParamInfo<SharedFold::ParamType>& tested) {
  const auto [way, goal, ranks] = tested.param;
  return nameOf(way) + nameOf(goal) + "Of" + std::to_string(ranks);
}

INSTANTIATE_TEST_SUITE_P(All, SharedFold,
                         ::testing::Combine(::testing::Values(SharedWay::kEager, SharedWay::kStaged,
                                                              SharedWay::kDirect, SharedWay::kPulled),
                                            ::testing::Values(FoldGoal::kAllReduce, FoldGoal::kReduceScatter,
                                                              FoldGoal::kReduce),
                                            ::testing::ValuesIn(sharedGroupSizes())),
                         nameOfCase);

TEST(StagedFold, CopiesWhatOthersOwnAndNothingElse) {
  const StageShape shape{1024, 4};
  for (int rank = 0; rank < 4; ++rank) {
    const SharedPlan plan =
        whole(stagedFold({.rank = rank, .ranks = 4, .count = 8192, .element_bytes = 4}, shape));
    std::size_t exported = 0;
    std::size_t imported = 0;
    for (const SharedStep& step : plan.steps) {
      exported += step.kind == SharedStepKind::kExport ? step.bytes : 0;
      imported += step.kind == SharedStepKind::kImport ? step.bytes : 0;
    }
    EXPECT_EQ(exported, 8192U * 4 / 4 * 3);
    EXPECT_EQ(imported, 8192U * 4 / 4 * 3);
  }
}

TEST(StagedFold, CutsElementsNowhere) {
  const StageShape shape{1000 / 64 * 64, 4};
  for (const int ranks : {2, 3, 7}) {
    const SharedPlan plan =
        whole(stagedFold({.rank = 1, .ranks = ranks, .count = 999, .element_bytes = 8}, shape));
    for (const SharedStep& step : plan.steps) {
      EXPECT_EQ(step.bytes % 8, 0U);
      EXPECT_EQ(step.input % 8, 0U);
    }
  }
}

}  // namespace
}  // namespace popdist::plan
