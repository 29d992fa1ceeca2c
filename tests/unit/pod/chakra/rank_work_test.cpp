// SPDX-License-Identifier: Apache-2.0
#include "pod/chakra/rank_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pop::pod::chakra {
namespace {

using std::chrono::microseconds;
using ::testing::HasSubstr;

TraceNode computes(std::uint64_t id, int duration, std::vector<std::uint64_t> after = {}) {
  return {.id = id, .name = "c", .dependencies = std::move(after), .duration = microseconds(duration)};
}

TraceNode sums(std::uint64_t id, std::uint64_t bytes, std::vector<std::uint64_t> after = {}) {
  return {.id = id,
          .name = "s",
          .dependencies = std::move(after),
          .collective = TracedCollective{.bytes = bytes}};
}

TEST(RankWork, FollowsDependenciesNotTheFile) {
  const std::vector<TraceNode> nodes{sums(1, 8, {3}), computes(2, 5), computes(3, 7), computes(4, 1, {1}),
                                     sums(5, 16, {1})};
  auto work = workOf(nodes, "w.0.et");
  ASSERT_TRUE(work.ok()) << work.status().message();
  ASSERT_EQ(work->collectives.size(), 2U);
  EXPECT_EQ(work->collectives[0].computation, microseconds(12)) << "nodes 2 and 3";
  EXPECT_EQ(work->collectives[0].node.id, 1U);
  EXPECT_EQ(work->collectives[1].computation, microseconds(1)) << "node 4 is before node 5 in the file";
  EXPECT_EQ(work->computation_after, microseconds(0));
}

TEST(RankWork, RefusesGraphsThatCannotBeFollowed) {
  const auto refusal = [](const std::vector<TraceNode>& nodes) {
    return workOf(nodes, "w.0.et").status().message();
  };
  EXPECT_EQ(refusal({computes(1, 1), computes(1, 2)}), "w.0.et: node 1, 'c': its id comes twice");
  EXPECT_THAT(refusal({computes(1, 1, {9})}),
              HasSubstr("node 1, 'c': it depends on node 9, which is not there"));
  EXPECT_EQ(refusal({computes(1, 1, {3}), computes(2, 1, {3}), computes(3, 1, {2}), computes(4, 1)}),
            "w.0.et: node 2, 'c': it waits for itself, by its dependencies");
  EXPECT_THAT(refusal({computes(1, 1, {1})}), HasSubstr("node 1, 'c': it waits for itself"));
}

TEST(RankWork, OfAllRanksWaitsForTheSlowest) {
  RankWork all = workOf(std::vector{computes(1, 5), sums(2, 8, {1}), computes(3, 2, {2})}, "w.0.et").value();
  const RankWork slow =
      workOf(std::vector{computes(1, 9), sums(6, 8, {1}), computes(3, 1, {6})}, "w.1.et").value();
  ASSERT_TRUE(join(all, "w.0.et", slow, "w.1.et").ok());
  EXPECT_EQ(all.collectives[0].computation, microseconds(9));
  EXPECT_EQ(all.computation_after, microseconds(2));
}

TEST(RankWork, OfRanksThatDisagreeIsRefused) {
  RankWork all = workOf(std::vector{sums(1, 8)}, "w.0.et").value();
  const auto refusal = [&](const std::vector<TraceNode>& nodes) {
    return join(all, "w.0.et", workOf(nodes, "w.1.et").value(), "w.1.et").message();
  };
  EXPECT_EQ(
      refusal({sums(4, 9)}),
      "w.1.et: collective 0 is node 4, 's', an all-reduce of 9 bytes in elements of 4, and in w.0.et node 1, "
      "'s', "
      "an all-reduce of 8 bytes in elements of 4: all ranks need the same collectives in the same order");
  EXPECT_THAT(refusal({sums(1, 8), sums(2, 8)}), HasSubstr("w.1.et: it has 2 collectives, and w.0.et has 1"));
  EXPECT_THAT(refusal({computes(1, 8)}), HasSubstr("it has 0 collectives"));
  EXPECT_EQ(all.collectives.size(), 1U);
}

}  // namespace
}  // namespace pop::pod::chakra
