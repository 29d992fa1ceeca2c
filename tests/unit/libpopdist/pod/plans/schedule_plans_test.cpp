// SPDX-License-Identifier: Apache-2.0
// The plans of all replicas are carried out in lockstep on plain vectors; unsigned sums are exact in any
// order, and floating-point ones tell one order from another.
#include "libpopdist/pod/plans/schedule_plans.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "libpopdist/pod/plans/collective_plans.h"
#include "libpopdist/pod/plans/sum_order.h"
#include "pod/collectives/gcl.h"
#include "tests/testing/plan_simulator.h"

namespace popdist::pod {
namespace {

template <typename T>
using Ranks = std::vector<plan::SimulatedRank<T>>;

ReplicaLayout layoutOn(const char* pod, int replicas, int ipus_per_replica = 1) {
  return {podSpecByName(pod).value(), replicas, ipus_per_replica};
}

const ReplicaLayout kLayouts[] = {layoutOn("pod16", 1),           layoutOn("pod16", 2),
                                  layoutOn("pod16", 5),           layoutOn("pod16", 16),
                                  layoutOn("pod128", 16, 8),      layoutOn("pod256", 24, 8),
                                  layoutOn("pod128", 128),        layoutOn("pod256", 4, 64),
                                  layoutOn("pod64-torus", 16, 4), layoutOn("pod64-twist", 64)};

std::vector<plan::Plan> sumPlans(const Schedule& schedule, int first, int replicas, std::size_t count) {
  return plansOf(schedule, {.group = schedule.replicas, .count = count}, first, replicas);
}

std::string textOf(const ReplicaLayout& layout, std::size_t count) {
  return std::to_string(layout.replicas) + " replicas on " + layout.spec.name + ", " + std::to_string(count) +
         " elements";
}

template <typename T, typename Value>
Ranks<T> ranksWith(const std::vector<plan::Plan>& plans, std::size_t count, const Value& value) {
  Ranks<T> ranks(plans.size());
  for (std::size_t replica = 0; replica < ranks.size(); ++replica) {
    ranks[replica].plan = plans[replica];
    for (std::size_t i = 0; i < count; ++i) ranks[replica].output.push_back(value());
    ranks[replica].input = ranks[replica].output;
  }
  return ranks;
}

TEST(SchedulePlans, EveryReplicaEndsWithTheSum) {
  for (const ReplicaLayout& layout : kLayouts) {
    const Schedule schedule = gclAllReduce(layout, layout.replicas);
    for (const std::size_t count : {0U, 1U, 7U, 97U, 331U}) {
      SCOPED_TRACE(textOf(layout, count));
      pop::SplitMix64 random(count);
      auto ranks = ranksWith<std::uint64_t>(sumPlans(schedule, 0, layout.replicas, count), count,
                                            [&] { return random.next(); });
      std::vector<std::uint64_t> sum(count, 0);
      for (const auto& rank : ranks) {
        for (std::size_t i = 0; i < count; ++i) sum[i] += rank.output[i];
      }
      ASSERT_EQ(plan::simulate(ranks), "");
      for (const auto& rank : ranks) ASSERT_EQ(rank.output, sum);
    }
  }
}

TEST(SchedulePlans, APartOfTheReplicasHasThePlansOfAll) {
  const Schedule schedule = gclAllReduce(layoutOn("pod128", 128), 128);
  const std::vector<plan::Plan> all = sumPlans(schedule, 0, 128, 5000);
  const std::vector<plan::Plan> some = sumPlans(schedule, 60, 8, 5000);
  for (std::size_t at = 0; at < some.size(); ++at) EXPECT_EQ(some[at].steps, all[60 + at].steps);
  EXPECT_EQ(all.front().steps.size(), 1 + 2 * (2U * 63 + 2U));
}

TEST(SchedulePlans, DependOnThePlacesOfReplicasOnly) {
  ReplicaLayout faster = layoutOn("bow-pod128", 128);
  faster.spec.links.gw_link_bytes_per_s *= 8;
  faster.spec.step_cost = Picoseconds(0);
  const auto stepsOn = [](const ReplicaLayout& layout) {
    return sumPlans(gclAllReduce(layout, layout.replicas), 63, 1, 5000).front().steps;
  };
  EXPECT_EQ(stepsOn(layoutOn("pod128", 128)), stepsOn(faster));
  const auto ofFour = [](const char* pod) {
    return sumPlans(gclAllReduce(layoutOn(pod, 4), 4), 3, 1, 100).front().steps;
  };
  EXPECT_EQ(ofFour("pod4"), ofFour("pod256"));
}

TEST(SchedulePlans, GiveEachReplicaWhatItNeeds) {
  for (const ReplicaLayout& layout :
       {layoutOn("pod16", 5), layoutOn("pod16", 8), layoutOn("pod128", 16, 8)}) {
    for (const std::size_t count : {1U, 97U, 500U}) {
      SCOPED_TRACE(textOf(layout, count));
      const std::size_t half = count / 2;
      const std::vector<Need> needs{
          {0, {0, half}}, {2, {half, count - half}}, {3, {0, half}}, {4, {half, count - half}}};
      pop::SplitMix64 random(count);
      auto ranks = ranksWith<std::uint64_t>(
          plansToNeeds(gclReduceScatterOfAll(layout, layout.replicas), 0, layout.replicas, count, needs),
          count, [&] { return random.next(); });
      std::vector<std::uint64_t> sum(count, 0);
      for (const auto& rank : ranks) {
        for (std::size_t i = 0; i < count; ++i) sum[i] += rank.output[i];
      }
      ASSERT_EQ(plan::simulate(ranks), "");
      for (const Need& need : needs) {
        for (std::size_t i = need.elements.begin; i < need.elements.begin + need.elements.count; ++i)
          ASSERT_EQ(ranks[static_cast<std::size_t>(need.replica)].output[i], sum[i]);
      }
    }
  }
}

TEST(SchedulePlans, ToNeedsSendLessThanAnAllReduce) {
  const ReplicaLayout layout = layoutOn("pod16", 16);
  std::vector<Need> needs;
  for (int replica = 0; replica < 16; ++replica)
    needs.push_back({replica, plan::blockRange(16'000, 16, replica)});
  const auto sent = [](const plan::Plan& plan) {
    std::size_t elements = 0;
    for (const plan::Step& step : plan.steps) elements += step.kind == plan::StepKind::kSend ? step.count : 0;
    return elements;
  };
  EXPECT_LE(sent(plansToNeeds(gclReduceScatterOfAll(layout, 16), 3, 1, 16'000, needs).front()), 16'000U);
  EXPECT_EQ(sent(sumPlans(gclAllReduce(layout, 16), 3, 1, 16'000).front()), 2U * 15 * 1000);
}

// ---- the order of sums

float sumInOrder(const SumOrder& order, const SumOrder::Sum& sum, const Ranks<float>& ranks, std::size_t i) {
  float total = 0;
  bool is_first = true;
  for (const SumOrder::Term& term : sum) {
    const float value = term.is_sum ? sumInOrder(order, order.sum(term.index), ranks, i)
                                    : ranks[static_cast<std::size_t>(term.index)].output[i];
    total = is_first ? value : total + value;
    is_first = false;
  }
  return total;
}

TEST(SumOrder, IsThatOfTheSumsThatTravel) {
  for (const ReplicaLayout& layout : kLayouts) {
    constexpr std::size_t kCount = 300;
    SCOPED_TRACE(textOf(layout, kCount));
    const Schedule schedule = gclAllReduce(layout, layout.replicas);
    const SumOrder order(schedule);
    pop::SplitMix64 random(1);
    auto ranks = ranksWith<float>(sumPlans(schedule, 0, layout.replicas, kCount), kCount, [&] {
      return static_cast<float>(random.next()) / static_cast<float>(1 + random.next() % 1'000'000);
    });
    std::vector<float> expected(kCount);
    for (std::uint32_t block = 0; block < order.blocks(); ++block) {
      const plan::Range elements = elementsOf(schedule, block, 1, kCount);
      for (std::size_t i = elements.begin; i < elements.begin + elements.count; ++i)
        expected[i] = sumInOrder(order, order.sumOf(block), ranks, i);
    }
    ASSERT_EQ(plan::simulate(ranks), "");
    for (const auto& rank : ranks) ASSERT_EQ(rank.output, expected);
  }
}

TEST(SumOrder, OfOneRingIsOneListOfReplicas) {
  const SumOrder order(gclAllReduce(layoutOn("pod16", 16), 16));
  EXPECT_EQ(order.buffers(), 0);
  for (std::uint32_t block = 0; block < order.blocks(); ++block) EXPECT_EQ(order.sumOf(block).size(), 16U);
  EXPECT_EQ(order.ownerOf(5), 5);
}

}  // namespace
}  // namespace popdist::pod
