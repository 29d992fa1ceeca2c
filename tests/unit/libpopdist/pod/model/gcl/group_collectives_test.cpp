// SPDX-License-Identifier: Apache-2.0
// The plans of all replicas are carried out in lockstep on plain vectors; unsigned sums are exact in any
// order.
#include "libpopdist/pod/model/gcl/group_collectives.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "libpopdist/pod/model/clock.h"
#include "libpopdist/pod/model/gcl/all_reduce.h"
#include "tests/testing/plan_simulator.h"

namespace popdist::pod::gcl {
namespace {

using Ranks = std::vector<plan::SimulatedRank<std::uint64_t>>;
using Vector = std::vector<std::uint64_t>;
using Planner = plan::Plan (*)(const ReplicaLayout&, int, int, std::size_t);

struct Case {
  const char* pod;
  int replicas;
  int ipus_per_replica;
  int group;

  ReplicaLayout layout() const { return {podSpecByName(pod).value(), replicas, ipus_per_replica}; }
};

constexpr Case kCases[] = {
    {"pod16", 1, 1, 1},    {"pod16", 4, 1, 1},    {"pod16", 4, 1, 2},   {"pod16", 8, 2, 4},
    {"pod16", 6, 1, 3},    {"pod16", 16, 1, 16},  {"pod128", 16, 8, 1}, {"pod128", 16, 8, 4},
    {"pod128", 16, 8, 8},  {"pod128", 16, 8, 16}, {"pod256", 24, 8, 2}, {"pod256", 24, 8, 12},
    {"pod256", 32, 8, 16}, {"pod256", 24, 8, 24},
};

Ranks randomRanks(const Case& tested, std::size_t count) {
  pop::SplitMix64 random(count);
  Ranks ranks(static_cast<std::size_t>(tested.replicas));
  for (auto& rank : ranks) {
    for (std::size_t i = 0; i < count; ++i) rank.output.push_back(random.next());
  }
  return ranks;
}

/// The sum of replicas [first, end).
Vector sumOf(const Ranks& ranks, std::size_t first, std::size_t end) {
  Vector sum(ranks.front().output.size());
  for (std::size_t rank = first; rank < end; ++rank) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += ranks[rank].output[i];
  }
  return sum;
}

void carryOut(const Case& tested, Planner planner, std::size_t count, Ranks& ranks) {
  for (std::size_t replica = 0; replica < ranks.size(); ++replica) {
    ranks[replica].plan = planner(tested.layout(), tested.group, static_cast<int>(replica), count);
    ranks[replica].finished = false;
  }
  ASSERT_EQ(plan::simulate(ranks), "");
}

std::string textOf(const Case& tested, std::size_t count) {
  return std::to_string(tested.replicas) + " replicas on " + tested.pod + ", groups of " +
         std::to_string(tested.group) + ", " + std::to_string(count) + " elements";
}

TEST(GroupCollectives, ReduceScatterAndAllGatherTogetherGiveEachReplicaTheSumOfAll) {
  for (const Case& tested : kCases) {
    for (const std::size_t count : {0U, 1U, 7U, 97U, 500U}) {
      SCOPED_TRACE(textOf(tested, count));
      Ranks ranks = randomRanks(tested, count);
      const Vector sum = sumOf(ranks, 0, ranks.size());
      carryOut(tested, planGroupReduceScatter, count, ranks);
      carryOut(tested, planGroupAllGather, count, ranks);
      for (const auto& rank : ranks) ASSERT_EQ(rank.output, sum);
    }
  }
}

TEST(GroupCollectives, AllReduceGivesEachReplicaTheSumOfItsGroup) {
  for (const Case& tested : kCases) {
    const std::size_t count = 101;
    SCOPED_TRACE(textOf(tested, count));
    Ranks ranks = randomRanks(tested, count);
    const Ranks before = ranks;
    carryOut(tested, planGroupAllReduce, count, ranks);
    const auto group = static_cast<std::size_t>(tested.group);
    for (std::size_t replica = 0; replica < ranks.size(); ++replica) {
      const std::size_t first = replica / group * group;
      ASSERT_EQ(ranks[replica].output, sumOf(before, first, first + group)) << "replica " << replica;
    }
  }
}

Picoseconds timeOf(const Case& tested, Planner planner, std::size_t count) {
  std::vector<plan::Plan> plans;
  for (int replica = 0; replica < tested.replicas; ++replica)
    plans.push_back(planner(tested.layout(), tested.group, replica, count));
  return simulate(tested.layout(), plans, sizeof(float)).total;
}

// GCL's all-reduce is both of them.
TEST(GroupCollectives, OfAllReplicasTakeTheTimeOfAnAllReduce) {
  for (const Case& tested : {Case{"pod16", 16, 1, 16}, Case{"pod64", 8, 4, 8}, Case{"pod256", 24, 8, 24}}) {
    std::vector<plan::Plan> plans;
    for (int replica = 0; replica < tested.replicas; ++replica)
      plans.push_back(planDeviceAllReduce(tested.layout(), replica, 960'000));
    EXPECT_EQ(timeOf(tested, planGroupReduceScatter, 960'000) + timeOf(tested, planGroupAllGather, 960'000),
              simulate(tested.layout(), plans, sizeof(float)).total);
  }
}

TEST(GroupCollectives, OfSmallGroupsTakeFewerRounds) {
  const Case pairs{"pod16", 16, 1, 2};
  const Case all{"pod16", 16, 1, 16};
  EXPECT_LT(timeOf(pairs, planGroupAllReduce, 64), timeOf(all, planGroupAllReduce, 64));
  EXPECT_LT(timeOf(pairs, planGroupAllGather, 64), timeOf(all, planGroupAllGather, 64));
  EXPECT_EQ(timeOf({"pod16", 16, 1, 1}, planGroupAllGather, 64), Picoseconds(0));
}

TEST(DeviceReduceScatter, GivesEachReplicaWhatItNeeds) {
  for (const Case& tested : {Case{"pod16", 5, 1, 1}, Case{"pod16", 8, 1, 1}, Case{"pod128", 16, 8, 1}}) {
    for (const std::size_t count : {1U, 97U, 500U}) {
      SCOPED_TRACE(textOf(tested, count));
      const std::size_t half = count / 2;
      const std::vector<Need> needs{
          {0, {0, half}}, {2, {half, count - half}}, {3, {0, half}}, {4, {half, count - half}}};
      Ranks ranks = randomRanks(tested, count);
      const Vector sum = sumOf(ranks, 0, ranks.size());
      for (std::size_t replica = 0; replica < ranks.size(); ++replica)
        ranks[replica].plan =
            planDeviceReduceScatter(tested.layout(), static_cast<int>(replica), count, needs);
      ASSERT_EQ(plan::simulate(ranks), "");
      for (const Need& need : needs) {
        for (std::size_t i = need.elements.begin; i < need.elements.begin + need.elements.count; ++i)
          ASSERT_EQ(ranks[static_cast<std::size_t>(need.replica)].output[i], sum[i]);
      }
    }
  }
}

TEST(DeviceReduceScatter, SendsLessThanAnAllReduce) {
  const ReplicaLayout layout = Case{"pod16", 16, 1, 1}.layout();
  std::vector<Need> needs;
  for (int replica = 0; replica < 16; ++replica)
    needs.push_back({replica, plan::blockRange(16'000, 16, replica)});
  const auto sent = [](const plan::Plan& plan) {
    std::size_t elements = 0;
    for (const plan::Step& step : plan.steps) elements += step.kind == plan::StepKind::kSend ? step.count : 0;
    return elements;
  };
  EXPECT_LE(sent(planDeviceReduceScatter(layout, 3, 16'000, needs)), 16'000U);
  EXPECT_EQ(sent(planDeviceAllReduce(layout, 3, 16'000)), 2U * 15 * 1000);
}

}  // namespace
}  // namespace popdist::pod::gcl
