// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/plan/flows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace popdist::plan {
namespace {

Flows gatherOf(const std::vector<std::size_t>& counts) {
  return tellingTheNext(allGatherFlows(counts), static_cast<int>(counts.size()));
}

std::ptrdiff_t empty(const Flows& flows) {
  return std::count_if(flows.begin(), flows.end(), [](const Flow& flow) { return flow.size == 0; });
}

TEST(FlowsThatTellTheNext, AreAllWhereEverybodyGives) {
  EXPECT_EQ(gatherOf({1, 2, 3}).size(), 9U);
}

TEST(FlowsThatTellTheNext, HaveOneMoreForEachThatGivesNothing) {
  const Flows flows = gatherOf({0, 2, 0, 0});
  EXPECT_EQ(empty(flows), 3);
  EXPECT_EQ(flows.size(), 4U + 3U);
}

TEST(FlowsThatTellTheNext, LeaveNobodyWithoutAWordOfTheRankBefore) {
  for (const std::vector<std::size_t>& counts :
       {std::vector<std::size_t>{0, 0}, {0, 5, 0}, {1, 0, 0, 2}, {0, 0, 0, 0, 0}}) {
    const Flows flows = gatherOf(counts);
    const int ranks = static_cast<int>(counts.size());
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_TRUE(std::any_of(
          flows.begin(), flows.end(),
          [&](const Flow& flow) { return flow.to == rank && flow.from == (rank + ranks - 1) % ranks; }))
          << "rank " << rank << " of " << ranks;
    }
  }
}

}  // namespace
}  // namespace popdist::plan
