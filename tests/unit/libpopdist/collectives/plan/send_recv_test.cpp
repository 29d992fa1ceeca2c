// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/plan/send_recv.h"

#include <gtest/gtest.h>

#include <vector>

namespace popdist::plan {
namespace {

std::string textOf(const std::vector<Partners>& all) {
  const auto found = findContradiction(all);
  return found ? found->text : "";
}

TEST(FindContradiction, FindsNoneWherePartnersFit) {
  EXPECT_EQ(textOf({{}}), "");
  EXPECT_EQ(textOf({{.to = 0, .from = 0, .send_count = 3, .recv_count = 3}}), "");
  EXPECT_EQ(textOf({{.to = 1, .from = 1, .send_count = 3, .recv_count = 7},
                    {.to = 0, .from = 0, .send_count = 7, .recv_count = 3},
                    {}}),
            "");
  EXPECT_EQ(textOf({{.to = 2, .send_count = 5}, {}, {.from = 0, .recv_count = 5}}), "");
}

TEST(FindContradiction, NamesBothSides) {
  EXPECT_EQ(textOf({{.to = 1, .send_count = 5}, {.from = 2, .recv_count = 1}, {}}),
            "rank 0 sends 5 elements to rank 1, which expects 1 element from rank 2");
  EXPECT_EQ(textOf({{}, {.from = 2, .recv_count = 4}, {.to = 0, .send_count = 4}}),
            "rank 1 expects 4 elements from rank 2, which sends 4 elements to rank 0");
  EXPECT_EQ(textOf({{.to = 1, .send_count = 5}, {.from = 0, .recv_count = 6}}),
            "rank 0 sends 5 elements to rank 1, which expects 6 elements from rank 0");
}

// Also a transfer of nothing must be expected: who waits for it would wait for ever.
TEST(FindContradiction, FindsTransfersOfNothing) {
  EXPECT_EQ(textOf({{.to = 1}, {}}), "rank 0 sends 0 elements to rank 1, which expects nothing");
}

TEST(FindContradiction, BlamesTheOtherSide) {
  const std::vector<Partners> all{{}, {.to = 2}, {}};
  const auto found = findContradiction(all);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->seenBy(1), 2);
  EXPECT_EQ(found->seenBy(2), 1);
  EXPECT_EQ(found->seenBy(0), 1);
}

TEST(FindContradiction, DoesNotTrustRanksOfOthers) {
  EXPECT_EQ(textOf({{.to = 9}, {}}), "rank 0 names a rank that does not exist");
}

TEST(FlowsOf, AreWhatLeavesAndWhatComes) {
  const Flows flows = flowsOf({.to = 1, .from = 2, .send_count = 3, .recv_count = 4}, 0);
  ASSERT_EQ(flows.size(), 2U);
  EXPECT_EQ(flows[0].from, 0);
  EXPECT_EQ(flows[0].to, 1);
  EXPECT_EQ(flows[0].size, 3U);
  EXPECT_EQ(flows[1].from, 2);
  EXPECT_EQ(flows[1].to, 0);
  EXPECT_EQ(flows[1].size, 4U);
}

TEST(FlowsOf, IsOneForWhoSendsToItself) {
  EXPECT_EQ(flowsOf({.to = 5, .from = 5, .send_count = 3, .recv_count = 3}, 5).size(), 1U);
  EXPECT_TRUE(flowsOf({}, 0).empty());
}

}  // namespace
}  // namespace popdist::plan
