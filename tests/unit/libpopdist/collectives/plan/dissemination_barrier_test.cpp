// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/plan/dissemination_barrier.h"

#include <gtest/gtest.h>

#include <bit>

#include "tests/testing/plan_simulator.h"
#include "tests/unit/libpopdist/collectives/plan/samples.h"

namespace popdist::plan {
namespace {

std::vector<SimulatedRank<std::uint8_t>> barrierOf(int ranks) {
  std::vector<SimulatedRank<std::uint8_t>> group(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    group[static_cast<std::size_t>(rank)] = {planDisseminationBarrier(rank, ranks), {1}, {}};
  return group;
}

TEST(DisseminationBarrier, EndsWhenAllRanksHaveCome) {
  for (const int ranks : groupSizes()) {
    auto group = barrierOf(ranks);
    EXPECT_EQ(simulate(group), "") << ranks << " ranks";
  }
}

TEST(DisseminationBarrier, NobodyLeavesWhileOneIsMissing) {
  for (const int ranks : groupSizes()) {
    for (std::size_t missing = 0; missing<static_cast<std::size_t>(ranks); missing += ranks> 17 ? 13 : 1) {
      auto group = barrierOf(ranks);
      group[missing].absent = true;
      simulate(group);
      for (const auto& self : group) EXPECT_FALSE(self.finished) << ranks << " ranks without " << missing;
    }
  }
}

TEST(DisseminationBarrier, TakesTheLogarithmOfTheRanksRoundedUp) {
  for (const int ranks : groupSizes()) {
    const auto depth = static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(ranks) - 1));
    const Plan plan = planDisseminationBarrier(0, ranks);
    EXPECT_EQ(roundsOf(plan), depth);
    EXPECT_EQ(elementsSent(plan), depth);
  }
}

}  // namespace
}  // namespace popdist::plan
