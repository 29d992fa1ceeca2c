// SPDX-License-Identifier: Apache-2.0
// That the simulator notices bad plans: the other tests of plans are worth no more than it is.
#include "tests/testing/plan_simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "libpopdist/collectives/plan/steps.h"

namespace popdist::plan {
namespace {

using ::testing::HasSubstr;

constexpr Slice kOut{Buffer::kOutput, 0};
constexpr Slice kIn{Buffer::kInput, 0};

/// Rank i runs plans[i] with two elements of input and of output: {i, i}.
std::string outcomeOf(const std::vector<std::vector<Step>>& plans) {
  std::vector<SimulatedRank<int>> ranks;
  for (const auto& steps : plans) {
    const int rank = static_cast<int>(ranks.size());
    SimulatedRank<int>& self = ranks.emplace_back();
    self.plan.steps = steps;
    self.input = {rank, rank};
    self.output = {rank, rank};
  }
  return simulate(ranks);
}

TEST(PlanSimulator, AcceptsAnExchangeWithinOneRound) {
  EXPECT_EQ(outcomeOf({{sendStep(0, 1, kIn, 2), recvStep(0, 1, kOut, 2)},
                       {sendStep(0, 0, kIn, 2), recvStep(0, 0, kOut, 2)}}),
            "");
}

TEST(PlanSimulator, FindsTheDeadlockOfTwoRanksThatBothReceiveFirst) {
  EXPECT_EQ(outcomeOf({{recvStep(0, 1, kOut, 2), sendStep(1, 1, kIn, 2)},
                       {recvStep(0, 0, kOut, 2), sendStep(1, 0, kIn, 2)}}),
            "rank 0: deadlock in round 0, waiting for rank 1");
}

TEST(PlanSimulator, FindsTheDeadlockOfASenderWhomNobodyHearsTwice) {
  EXPECT_EQ(outcomeOf({{sendStep(0, 1, kIn, 1), sendStep(1, 1, kIn, 1)}, {}}),
            "rank 0: deadlock in round 1, waiting for rank 1");
}

TEST(PlanSimulator, FindsAMessageLeftOver) {
  EXPECT_EQ(outcomeOf({{sendStep(0, 1, kIn, 2)}, {}}), "rank 0: its message to rank 1 is left over");
}

TEST(PlanSimulator, FindsAMessageOfAnotherLength) {
  EXPECT_EQ(outcomeOf({{sendStep(0, 1, kIn, 2)}, {recvStep(0, 0, kOut, 1)}}),
            "rank 1: expects 1 elements from rank 0, gets 2");
}

TEST(PlanSimulator, LetsStepsOfZeroElementsPassWithoutAMessage) {
  EXPECT_EQ(outcomeOf({{recvStep(0, 1, kOut, 0)}, {}}), "");
}

TEST(PlanSimulator, FindsStepsOfOneRoundThatConflict) {
  const Slice second{Buffer::kOutput, 1};
  EXPECT_EQ(outcomeOf({{copyStep(0, kIn, kOut, 2), copyStep(0, kIn, second, 1)}}),
            "rank 0: steps of round 0 conflict");
  EXPECT_EQ(outcomeOf({{copyStep(0, kIn, kOut, 1), copyStep(0, kIn, second, 1)}}), "");
  EXPECT_THAT(outcomeOf({{sendStep(0, 1, second, 1), copyStep(0, kIn, kOut, 2)}, {recvStep(0, 0, kOut, 1)}}),
              HasSubstr("conflict"));
}

TEST(PlanSimulator, FindsStepsThatLeaveTheirBuffers) {
  EXPECT_THAT(outcomeOf({{copyStep(0, kIn, kOut, 3)}}), HasSubstr("beyond its buffer"));
  EXPECT_THAT(outcomeOf({{copyStep(0, kIn, {Buffer::kScratch, 0}, 1)}}), HasSubstr("beyond its buffer"));
}

TEST(PlanSimulator, FindsStepsThatBreakTheRulesOfPlans) {
  EXPECT_THAT(outcomeOf({{copyStep(0, kOut, kIn, 1)}}), HasSubstr("kInput is written"));
  EXPECT_THAT(outcomeOf({{copyStep(1, kIn, kOut, 1), copyStep(0, kIn, kOut, 1)}}),
              HasSubstr("rounds decrease"));
  EXPECT_THAT(outcomeOf({{sendStep(0, 0, kIn, 1)}}), HasSubstr("bad peer 0"));
  EXPECT_THAT(outcomeOf({{sendStep(0, 1, kIn, 1)}}), HasSubstr("bad peer 1"));
}

}  // namespace
}  // namespace popdist::plan
