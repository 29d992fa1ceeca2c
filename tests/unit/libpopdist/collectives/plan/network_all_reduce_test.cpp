// SPDX-License-Identifier: Apache-2.0
// The all-reduces for networks: two that pair ranks by the bits of their numbers, and the ring in segments;
// and what all plans that reduce say of their operands.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <functional>

#include "libpopdist/collectives/plan/halving_doubling_all_reduce.h"
#include "libpopdist/collectives/plan/recursive_doubling_all_reduce.h"
#include "libpopdist/collectives/plan/ring_all_reduce.h"
#include "libpopdist/collectives/plan/ring_reduce_scatter.h"
#include "tests/testing/plan_simulator.h"
#include "tests/unit/libpopdist/collectives/plan/samples.h"

namespace popdist::plan {
namespace {

using AllReduce = Plan (*)(int rank, int ranks, std::size_t count);

void expectSumEverywhere(AllReduce algorithm, int ranks, std::size_t count) {
  std::vector<SimulatedRank<Element>> group;
  for (int rank = 0; rank < ranks; ++rank)
    group.push_back({algorithm(rank, ranks, count), {}, samplesOf(rank, count)});
  ASSERT_EQ(simulate(group, kGarbage), "") << groupName(ranks, count);
  std::vector<Element> expected(count);
  for (std::size_t i = 0; i < count; ++i) expected[i] = sumOfSamples(ranks, i);
  for (const auto& self : group) ASSERT_EQ(self.output, expected) << groupName(ranks, count);
}

TEST(RecursiveDoublingAllReduce, EveryRankEndsWithTheSum) {
  for (const int ranks : groupSizes()) {
    for (const std::size_t count : countsFor(ranks))
      expectSumEverywhere(planRecursiveDoublingAllReduce, ranks, count);
  }
}

TEST(HalvingDoublingAllReduce, EveryRankEndsWithTheSum) {
  for (const int ranks : groupSizes()) {
    for (const std::size_t count : countsFor(ranks))
      expectSumEverywhere(planHalvingDoublingAllReduce, ranks, count);
  }
}

Plan planInSegments(int rank, int ranks, std::size_t count) {
  return planSegmentedRingAllReduce(rank, ranks, count, 3);
}

TEST(SegmentedRingAllReduce, EveryRankEndsWithTheSum) {
  for (const int ranks : groupSizes()) {
    for (const std::size_t count : countsFor(ranks)) expectSumEverywhere(planInSegments, ranks, count);
  }
}

// Two more rounds for a few elements cost more than those do.
TEST(SegmentedRingAllReduce, TakesAShortRestWithTheLastSegment) {
  EXPECT_EQ(roundsOf(planSegmentedRingAllReduce(0, 2, 16, 8)), 2U);
  EXPECT_EQ(roundsOf(planSegmentedRingAllReduce(0, 2, 18, 8)), 2U);
  EXPECT_EQ(roundsOf(planSegmentedRingAllReduce(0, 2, 19, 8)), 4U);
  EXPECT_EQ(roundsOf(planSegmentedRingAllReduce(0, 2, 34, 8)), 4U);
}

TEST(RecursiveDoublingAllReduce, TakesLogarithmicallyManyRounds) {
  for (const int ranks : {1, 2, 4, 8, 64}) {
    const int rounds = std::countr_zero(static_cast<unsigned>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
      const Plan plan = planRecursiveDoublingAllReduce(rank, ranks, 10);
      EXPECT_EQ(elementsSent(plan), 10U * static_cast<std::size_t>(rounds));
    }
  }
}

TEST(HalvingDoublingAllReduce, SendsNoMoreThanARing) {
  for (const int ranks : {2, 4, 8, 64}) {
    const auto n = static_cast<std::size_t>(ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      const Plan plan = planHalvingDoublingAllReduce(rank, ranks, 10 * n);
      EXPECT_EQ(elementsSent(plan), 2 * 10 * (n - 1));
      EXPECT_EQ(roundsOf(plan), 2U * static_cast<std::size_t>(std::countr_zero(n)));
    }
  }
}

// Which ranks an element has been reduced over.
using Members = std::uint64_t;

/// Runs the plans on elements that remember their members; every step must say what it has before it.
void expectTrueOperands(std::vector<SimulatedRank<Members>> group, const char* what) {
  const Members everybody = group.size() == 64 ? ~Members{0} : (Members{1} << group.size()) - 1;
  std::size_t reductions = 0;
  const auto join = [&](const Members& own, const Members& incoming, const Operands& operands) {
    ++reductions;
    EXPECT_EQ(own & incoming, 0U) << what << ": a member counts twice";
    EXPECT_EQ(operands.own_is_partial, std::popcount(own) > 1) << what;
    EXPECT_EQ(operands.incoming_is_partial, std::popcount(incoming) > 1) << what;
    EXPECT_EQ(operands.last, (own | incoming) == everybody) << what;
    return own | incoming;
  };
  using Join = std::function<Members(const Members&, const Members&, const Operands&)>;
  ASSERT_EQ(simulate(group, Members{0}, Join(join)), "") << what;
  EXPECT_EQ(reductions > 0, group.size() > 1) << what;
}

TEST(PlansThatReduce, SayWhatTheirOperandsAre) {
  for (const int ranks : groupSizes()) {
    constexpr std::size_t kCount = 70;
    const AllReduce all_reduces[] = {planRecursiveDoublingAllReduce, planHalvingDoublingAllReduce,
                                     planRingAllReduce, planInSegments};
    for (const AllReduce algorithm : all_reduces) {
      std::vector<SimulatedRank<Members>> group;
      for (int rank = 0; rank < ranks; ++rank)
        group.push_back({algorithm(rank, ranks, kCount), {}, std::vector(kCount, Members{1} << rank)});
      expectTrueOperands(std::move(group), "all-reduce");
    }
    for (const std::size_t segment : {1U, 2U}) {
      std::vector<SimulatedRank<Members>> group;
      for (int rank = 0; rank < ranks; ++rank) {
        group.push_back({planRingReduceScatter(rank, ranks, 2, segment),
                         std::vector(2 * static_cast<std::size_t>(ranks), Members{1} << rank),
                         std::vector(2, Members{0})});
      }
      expectTrueOperands(std::move(group), "reduce-scatter");
    }
  }
}

}  // namespace
}  // namespace popdist::plan
