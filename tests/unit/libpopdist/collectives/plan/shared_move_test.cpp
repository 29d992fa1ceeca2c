// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/plan/shared_move.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "tests/unit/libpopdist/collectives/plan/shared_samples.h"

namespace popdist::plan {
namespace {

// What leaves a rank at most.
std::size_t leavingBytes(const Flows& flows) {
  std::size_t most = 0;
  for (const Flow& flow : flows) most = std::max(most, flow.input + flow.size);
  return most;
}

class SharedMove : public ::testing::TestWithParam<std::tuple<SharedWay, int>> {};

TEST_P(SharedMove, BringsEveryBlockToItsPlaceWithoutRaces) {
  const auto [way, ranks] = GetParam();
  const StageLayout layout = smallLayout(ranks);
  const std::size_t slot = layout.slots.slot_bytes;
  pop::SplitMix64 random(4);
  std::vector<std::size_t> sizes{0, 1, 63, 64, 65, slot - 1, slot, slot + 1, 3 * slot, 5 * slot + 5};
  if (ranks > 9) sizes = {0, 1, 65};
  for (const std::size_t most : sizes) {
    for (const auto& [name, flows] : sampleFlows(ranks, most, random)) {
      if (way == SharedWay::kEager && leavingBytes(flows) > layout.eager_bytes) continue;
      const SharedSample sample = moveSample(way, flows, ranks, layout, random);
      ASSERT_EQ(runSamples({sample}, ranks, layout, most), "") << name << " of " << most << " bytes";
    }
  }
}

std::string nameOfMove(const ::testing::TestParamInfo<SharedMove::ParamType>& tested) {
  const auto [way, ranks] = tested.param;
  return nameOf(way) + "Of" + std::to_string(ranks);
}

INSTANTIATE_TEST_SUITE_P(All, SharedMove,
                         ::testing::Combine(::testing::Values(SharedWay::kEager, SharedWay::kStaged,
                                                              SharedWay::kDirect, SharedWay::kGiving),
                                            ::testing::ValuesIn(sharedGroupSizes())),
                         nameOfMove);

TEST(StagedMove, ExportsABlockThatGoesToSeveralOnce) {
  const StageShape shape{1024, 4};
  const SharedPlan plan = whole(stagedMove(allGatherFlows(std::vector<std::size_t>(5, 10'000)), 2, shape));
  std::size_t exported = 0;
  for (const SharedStep& step : plan.steps) exported += step.kind == SharedStepKind::kExport ? step.bytes : 0;
  EXPECT_EQ(exported, 10'000U);
}

TEST(SharedMoves, OfAnAllGatherInPlaceLeaveTheOwnBlock) {
  constexpr std::size_t kBlock = 100;
  constexpr int kRanks = 3;
  pop::SplitMix64 random(5);
  const Flows flows = allGatherFlows(std::vector<std::size_t>(kRanks, kBlock));
  for (const SharedWay way :
       {SharedWay::kEager, SharedWay::kStaged, SharedWay::kDirect, SharedWay::kGiving}) {
    const StageLayout layout = smallLayout(kRanks);
    SharedSample sample = moveSample(way, flows, kRanks, layout, random);
    for (std::size_t rank = 0; rank < kRanks; ++rank) sample.parts[rank].in_place_at = rank * kBlock;
    EXPECT_EQ(runSamples({sample}, kRanks, layout, 1), "");
  }
}

}  // namespace
}  // namespace popdist::plan
