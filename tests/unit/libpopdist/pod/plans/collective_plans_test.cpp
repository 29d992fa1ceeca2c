// SPDX-License-Identifier: Apache-2.0
// Every collective in groups, by every method, carried out in lockstep on plain vectors. Unsigned sums are
// exact in any order.
#include "libpopdist/pod/plans/collective_plans.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "pod/clock/tuner.h"
#include "tests/testing/plan_simulator.h"

namespace popdist::pod {
namespace {

using Element = std::uint64_t;
using Vector = std::vector<Element>;
using Vectors = std::vector<Vector>;

struct Sizes {
  std::size_t input;
  std::size_t output;
};

Sizes sizesOf(const Collective& collective) {
  const std::size_t part = collective.count / static_cast<std::size_t>(collective.group.size);
  switch (collective.kind) {
    case CollectiveKind::kReduceScatter:
      return {collective.count, part};
    case CollectiveKind::kAllGather:
      return {part, collective.count};
    case CollectiveKind::kBroadcast:
      return {0, collective.count};
    default:
      return {collective.count, collective.count};
  }
}

Vector part(const Vector& whole, const Collective& collective, int place) {
  const auto count =
      static_cast<std::ptrdiff_t>(collective.count / static_cast<std::size_t>(collective.group.size));
  return {whole.begin() + place * count, whole.begin() + (place + 1) * count};
}

Vector sumOfGroup(const Collective& collective, const Vectors& inputs, int replica) {
  Vector sum(collective.count, 0);
  for (int place = 0; place < collective.group.size; ++place) {
    const Vector& each = inputs[static_cast<std::size_t>(collective.group.with(replica, place))];
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += each[i];
  }
  return sum;
}

// The end that a replica must come to, by the meaning of the collective alone.
Vector expectedOf(const Collective& collective, const Vectors& inputs, const Vectors& outputs, int replica) {
  const int own = collective.group.placeOf(replica);
  Vector all;
  const auto append = [&](const Vector& more) { all.insert(all.end(), more.begin(), more.end()); };
  switch (collective.kind) {
    case CollectiveKind::kReduceScatter:
      return part(sumOfGroup(collective, inputs, replica), collective, own);
    case CollectiveKind::kAllGather:
      for (int place = 0; place < collective.group.size; ++place)
        append(inputs[static_cast<std::size_t>(collective.group.with(replica, place))]);
      return all;
    case CollectiveKind::kAllToAll:
      for (int place = 0; place < collective.group.size; ++place)
        append(
            part(inputs[static_cast<std::size_t>(collective.group.with(replica, place))], collective, own));
      return all;
    case CollectiveKind::kBroadcast:
      return outputs[static_cast<std::size_t>(collective.group.with(replica, collective.root))];
    default:
      return sumOfGroup(collective, inputs, replica);
  }
}

Vectors randomVectors(int replicas, std::size_t count) {
  pop::SplitMix64 random(count);
  Vectors vectors(static_cast<std::size_t>(replicas), Vector(count));
  for (Vector& vector : vectors) {
    for (Element& element : vector) element = random.next();
  }
  return vectors;
}

void expectCarriedOut(const Schedule& schedule, const Collective& collective) {
  const Sizes sizes = sizesOf(collective);
  const Vectors inputs = randomVectors(schedule.replicas, sizes.input);
  const Vectors outputs = randomVectors(schedule.replicas, sizes.output);
  const std::vector<plan::Plan> plans = plansOf(schedule, collective, 0, schedule.replicas);
  std::vector<plan::SimulatedRank<Element>> ranks;
  for (std::size_t at = 0; at < plans.size(); ++at)
    ranks.push_back({.plan = plans[at], .input = inputs[at], .output = outputs[at]});
  ASSERT_EQ(plan::simulate(ranks), "");
  for (int replica = 0; replica < schedule.replicas; ++replica)
    ASSERT_EQ(ranks[static_cast<std::size_t>(replica)].output,
              expectedOf(collective, inputs, outputs, replica))
        << "replica " << replica;
}

struct Grouped {
  ReplicaLayout layout;
  std::vector<ReplicaGroup> groups;
};

std::vector<Grouped> grouped() {
  const auto on = [](const char* pod, int replicas, int ipus = 1) {
    return ReplicaLayout{podSpecByName(pod).value(), replicas, ipus};
  };
  return {{on("pod4", 1), {1}},
          {on("pod16", 6), {1, 2, 3, 6, {3, 2}, {2, 3}}},
          {on("pod16", 8), {8, 4, {2, 4}, {4, 2}}},
          {on("pod64-twist", 16), {16, 8, {4, 4}}},
          {on("pod64-torus", 8, 4), {8, 2}},
          {on("pod256", 16, 16), {16, 4, 8, {4, 4}, {2, 2}, {8, 2}}}};
}

class CollectivePlans : public ::testing::TestWithParam<CollectiveKind> {};

TEST_P(CollectivePlans, DoWhatTheCollectiveMeans) {
  for (const Grouped& each : grouped()) {
    const Topology topology(each.layout.spec);
    for (const ReplicaGroup& group : each.groups) {
      for (const std::size_t of_place : {0U, 1U, 13U}) {
        const Collective collective{.kind = GetParam(),
                                    .group = group,
                                    .count = of_place * static_cast<std::size_t>(group.size),
                                    .root = group.size - 1};
        for (const TimedSchedule& timed : timedSchedules(topology, each.layout, collective)) {
          SCOPED_TRACE(timed.name + ", " + std::to_string(each.layout.replicas) + " on " +
                       each.layout.spec.name + " in groups of " + std::to_string(group.size) + ", " +
                       std::to_string(group.stride) + " apart, " + std::to_string(of_place));
          expectCarriedOut(timed.schedule, collective);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, CollectivePlans,
                         ::testing::Values(CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter,
                                           CollectiveKind::kAllGather, CollectiveKind::kAllToAll,
                                           CollectiveKind::kBroadcast));

TEST(CollectivePlansOfSome, AreThoseOfAll) {
  const ReplicaLayout layout{podSpecByName("pod128").value(), 128, 1};
  const Collective collective{.kind = CollectiveKind::kReduceScatter, .group = 128, .count = 1280};
  const Schedule schedule = quickestSchedule(Topology(layout.spec), layout, collective).schedule;
  const std::vector<plan::Plan> all = plansOf(schedule, collective, 0, 128);
  const std::vector<plan::Plan> some = plansOf(schedule, collective, 60, 8);
  for (std::size_t at = 0; at < some.size(); ++at) EXPECT_EQ(some[at].steps, all[60 + at].steps);
}

}  // namespace
}  // namespace popdist::pod
