// SPDX-License-Identifier: Apache-2.0
// That every operation gets an algorithm which carries it out; the algorithms themselves have their own
// tests.
#include "libpopdist/collectives/choice/by_messages.h"

#include <gtest/gtest.h>

#include "tests/testing/plan_simulator.h"
#include "tests/unit/libpopdist/collectives/plan/samples.h"

namespace popdist::choice {
namespace {

using plan::Element;
using plan::kGarbage;
using plan::Operation;
using plan::SimulatedRank;

constexpr int kMessageRanks = 3;

/// Rank i has input {10 i, 10 i + 1, …} and output {100 i, 100 i + 1, …}. The outputs afterwards.
std::vector<std::vector<Element>> outputsOf(Request request, std::size_t input_count,
                                            std::size_t output_count) {
  std::vector<SimulatedRank<Element>> group(kMessageRanks);
  for (int rank = 0; rank < kMessageRanks; ++rank) {
    auto& self = group[static_cast<std::size_t>(rank)];
    request.rank = rank;
    request.ranks = kMessageRanks;
    self.plan = planCollective(request);
    for (std::size_t i = 0; i < input_count; ++i) self.input.push_back(10 * rank + static_cast<Element>(i));
    for (std::size_t i = 0; i < output_count; ++i)
      self.output.push_back(100 * rank + static_cast<Element>(i));
  }
  EXPECT_EQ(simulate(group, kGarbage), "");
  std::vector<std::vector<Element>> outputs;
  for (const auto& self : group) outputs.push_back(self.output);
  return outputs;
}

using Outputs = std::vector<std::vector<Element>>;

TEST(PlanCollective, AllReduceSumsOutputs) {
  EXPECT_EQ(outputsOf({.operation = Operation::kAllReduce, .count = 2}, 0, 2),
            (Outputs{{300, 303}, {300, 303}, {300, 303}}));
}

TEST(PlanCollective, ReduceScatterSumsBlocksOfInputs) {
  EXPECT_EQ(outputsOf({.operation = Operation::kReduceScatter, .count = 1}, 3, 1),
            (Outputs{{30}, {33}, {36}}));
}

TEST(PlanCollective, AllGatherCollectsInputs) {
  EXPECT_EQ(outputsOf({.operation = Operation::kAllGather, .count = 1}, 1, 3),
            (Outputs{{0, 10, 20}, {0, 10, 20}, {0, 10, 20}}));
}

TEST(PlanCollective, BroadcastCopiesTheRootsOutput) {
  EXPECT_EQ(outputsOf({.operation = Operation::kBroadcast, .count = 2, .root = 1}, 0, 2),
            (Outputs{{100, 101}, {100, 101}, {100, 101}}));
}

TEST(PlanCollective, AllToAllTransposesBlocks) {
  EXPECT_EQ(outputsOf({.operation = Operation::kAllToAll, .count = 1}, 3, 3),
            (Outputs{{0, 10, 20}, {1, 11, 21}, {2, 12, 22}}));
}

TEST(PlanCollective, BarrierHearsFromTheOthersAndLeavesOutputsAlone) {
  EXPECT_EQ(outputsOf({.operation = Operation::kBarrier}, 1, 1), (Outputs{{0}, {100}, {200}}));
  EXPECT_GT(elementsSent(planCollective({.operation = Operation::kBarrier, .ranks = kMessageRanks})), 0U);
}

Algorithm allReduceOf(std::size_t bytes, bool over_network, int ranks = 4) {
  return algorithmFor({.operation = Operation::kAllReduce,
                       .ranks = ranks,
                       .count = bytes / 4,
                       .element_bytes = 4,
                       .over_network = over_network});
}

TEST(Algorithm, OfAnAllReduceDependsOnItsBytesWhereTheNetworkCarriesIt) {
  EXPECT_EQ(allReduceOf(8, true), Algorithm::kRecursiveDoubling);
  EXPECT_EQ(allReduceOf(256 << 10, true), Algorithm::kHalvingDoubling);
  EXPECT_EQ(allReduceOf(64 << 20, true), Algorithm::kSegmentedRing);
  EXPECT_EQ(allReduceOf(8, false), Algorithm::kRing);
}

// Who has one partner sends no less in two rounds than in one.
TEST(Algorithm, OfAnAllReduceOfAPairIsOneExchangeForLonger) {
  EXPECT_EQ(allReduceOf(256 << 10, true, 2), Algorithm::kRecursiveDoubling);
  EXPECT_EQ(allReduceOf(64 << 20, true, 2), Algorithm::kSegmentedRing);
}

TEST(Algorithm, OfAnAllReduceOfMoreThanThereAreBytes) {
  EXPECT_EQ(algorithmFor({.operation = Operation::kAllReduce, .count = SIZE_MAX / 2, .element_bytes = 8}),
            Algorithm::kRing);
}

TEST(Algorithm, IsTheForcedOneIfItCanCarryOutTheOperation) {
  const auto forced = [](Operation operation) {
    return algorithmFor({.operation = operation, .count = 2, .forced = Algorithm::kHalvingDoubling});
  };
  EXPECT_EQ(forced(Operation::kAllReduce), Algorithm::kHalvingDoubling);
  EXPECT_EQ(forced(Operation::kBroadcast), Algorithm::kTree);
}

TEST(AlgorithmsOf, AreOneAtLeastForEveryOperationButSendRecv) {
  for (int operation = 0; operation < static_cast<int>(Operation::kSendRecv); ++operation)
    EXPECT_FALSE(algorithmsOf(static_cast<Operation>(operation)).empty()) << operation;
  EXPECT_EQ(algorithmsOf(Operation::kAllReduce).size(), 4U);
}

TEST(PlanCollective, AllReduceOverTheNetworkSumsOutputs) {
  for (const std::size_t count : {2U, 20'000U, 1'000'000U}) {
    const Outputs outputs = outputsOf(
        {.operation = Operation::kAllReduce, .count = count, .element_bytes = 8, .over_network = true}, 0,
        count);
    for (const auto& output : outputs) {
      EXPECT_EQ(output.front(), 300);
      EXPECT_EQ(output.back(), 300 + 3 * static_cast<Element>(count - 1));
    }
  }
}

}  // namespace
}  // namespace popdist::choice
