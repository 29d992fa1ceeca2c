// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/choice/over_hosts.h"

#include <gtest/gtest.h>

namespace popdist::choice {
namespace {

using plan::Operation;

TEST(Hierarchy, SplitsWhatIsLargeOverAllRanksOfAHost) {
  const plan::HostLayout even({2, 2}, 0);
  EXPECT_EQ(hierarchyFor(Operation::kAllReduce, 8, even), HierarchyWay::kLeaders);
  EXPECT_EQ(hierarchyFor(Operation::kAllReduce, 1 << 20, even), HierarchyWay::kLanes);
  EXPECT_EQ(hierarchyFor(Operation::kAllReduce, 1 << 20, plan::HostLayout({2, 1}, 0)),
            HierarchyWay::kLeaders);
}

TEST(Hierarchy, LeavesToMessagesWhatEachRankSendsToEachOther) {
  const plan::HostLayout even({2, 2}, 0);
  EXPECT_EQ(hierarchyFor(Operation::kAllToAll, 1 << 20, even), HierarchyWay::kFlat);
  EXPECT_EQ(hierarchyFor(Operation::kScatter, 8, even), HierarchyWay::kFlat);
}

// A block for each host would have to be kept.
TEST(Hierarchy, KeepsNoMoreThanAFewMegabytesOfAReduceScatter) {
  const plan::HostLayout even({2, 2}, 0);
  EXPECT_EQ(hierarchyFor(Operation::kReduceScatter, 1 << 20, even), HierarchyWay::kLanes);
  EXPECT_EQ(hierarchyFor(Operation::kReduceScatter, 64 << 20, even), HierarchyWay::kFlat);
}

}  // namespace
}  // namespace popdist::choice
