// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/plan/host_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace popdist::plan {
namespace {

using ::testing::ElementsAre;

TEST(HostLayout, KnowsWhereEachRankLies) {
  const HostLayout layout({2, 3, 1}, 4);
  EXPECT_EQ(layout.ranks(), 6);
  EXPECT_EQ(layout.hosts(), 3);
  EXPECT_EQ(layout.host(), 1);
  EXPECT_EQ(layout.local(), 2);
  EXPECT_EQ(layout.members(), 3);
  EXPECT_FALSE(layout.even());
  std::vector<int> hosts;
  for (int rank = 0; rank < layout.ranks(); ++rank) hosts.push_back(layout.hostOf(rank));
  EXPECT_THAT(hosts, ElementsAre(0, 0, 1, 1, 1, 2));
  EXPECT_THAT(layout.lane(0), ElementsAre(0, 2, 5));
}

TEST(HostLayout, HasALaneForEachPlaceWhereHostsAreAlike) {
  const HostLayout layout({3, 3}, 0);
  EXPECT_TRUE(layout.even());
  EXPECT_THAT(layout.lane(0), ElementsAre(0, 3));
  EXPECT_THAT(layout.lane(2), ElementsAre(2, 5));
}

TEST(OnRanks, PutsRanksInThePlaceOfPositions) {
  const Plan plan{.steps = {{.kind = StepKind::kSend, .peer = 1, .count = 3}, {.kind = StepKind::kCopy}}};
  const std::vector<int> ranks{4, 9};
  const Plan moved = onRanks(plan, ranks);
  EXPECT_EQ(moved.steps[0].peer, 9);
  EXPECT_EQ(moved.steps[1].peer, -1);
}

}  // namespace
}  // namespace popdist::plan
