// SPDX-License-Identifier: Apache-2.0
#include "pod/clock/tuner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "pod/clock/bounds.h"
#include "pod/clock/timeline.h"
#include "pod/collectives/split_all_reduce.h"
#include "pod/collectives/tree_packing.h"
#include "tests/unit/pod/collectives/carried_out.h"

namespace pop::pod {
namespace {

ReplicaLayout tunedLayout(const char* pod, int replicas, int machines) {
  PodSpec spec = podSpecByName(pod).value();
  spec.shape.machines_per_ild = machines;
  return {spec, replicas, 1};
}

Collective allReduceOf(const ReplicaLayout& layout, std::uint64_t count) {
  return {.group = layout.replicas, .count = count};
}

ReplicaLayout fullLayout(const char* pod, int machines) {
  return tunedLayout(pod, 4 * machines, machines);
}

std::string textOfTuned(const ReplicaLayout& layout, const std::string& name) {
  return name + ", " + std::to_string(layout.replicas) + " replicas on " + layout.spec.name + " of " +
         std::to_string(layout.spec.ildIpus()) + " IPUs";
}

void expectSums(const ReplicaLayout& layout, const std::string& name, const Schedule& schedule) {
  std::vector<Blocks> replicas = inputsOf(schedule);
  const Blocks sum = sumOf(replicas, 0, replicas.size());
  carryOut(schedule, replicas);
  for (const Blocks& blocks : replicas) ASSERT_EQ(blocks, sum) << textOfTuned(layout, name);
}

void expectClassesHold(const ReplicaLayout& layout, const std::string& name, const Schedule& schedule) {
  Schedule each = schedule;
  for (Phase& phase : each.phases) {
    int rounds = 0;
    for (const RoundClass& alike : phase.classes) rounds += alike.times;
    EXPECT_EQ(rounds, phase.rounds) << textOfTuned(layout, name);
    phase.classes.clear();
    for (int round = 0; round < phase.rounds; ++round) phase.classes.push_back({round, 1});
  }
  const Topology topology(layout.spec);
  EXPECT_EQ(simulate(topology, layout, schedule, 1'000'003, 4),
            simulate(topology, layout, each, 1'000'003, 4))
      << textOfTuned(layout, name);
}

const std::vector<ReplicaLayout>& layouts() {
  static const std::vector<ReplicaLayout> all = [] {
    std::vector<ReplicaLayout> made;
    for (const char* pod : {"pod64", "pod64-torus", "pod64-twist"}) {
      for (const int machines : {1, 2, 3, 4, 16}) made.push_back(fullLayout(pod, machines));
      for (const int replicas : {1, 2, 3, 5, 6, 12}) made.push_back(tunedLayout(pod, replicas, 4));
    }
    made.push_back({podSpecByName("pod128").value(), 16, 8});
    made.push_back({podSpecByName("pod128").value(), 128, 1});
    made.push_back({podSpecByName("pod64-torus").value(), 16, 4});
    return made;
  }();
  return all;
}

TEST(TimedAllReduces, EachOneGivesExactSumsNotBelowTheBound) {
  for (const ReplicaLayout& layout : layouts()) {
    const Topology topology(layout.spec);
    for (const std::uint64_t count : {1ULL, 100'000ULL}) {
      for (const TimedSchedule& each : timedSchedules(topology, layout, allReduceOf(layout, count))) {
        EXPECT_GE(each.time.total, allReduceLowerBound(topology, layout, count * 4))
            << textOfTuned(layout, each.name);
        if (each.schedule.blocks <= 20'000) expectSums(layout, each.name, each.schedule);
      }
    }
  }
}

TEST(TimedAllReduces, RoundsOfAClassTakeTheSameTime) {
  for (const ReplicaLayout& layout : layouts()) {
    for (const int pieces : {1, 2, 3, 7}) {
      if (const auto split = splitAllReduce(layout, pieces)) expectClassesHold(layout, "split", *split);
    }
    if (layout.ipus_per_replica > 1 || layout.ildCount() > 1) continue;
    const std::vector<Tree> trees = packTrees(Topology(layout.spec), layout.replicas, 8);
    for (const int chunks : {1, 5, 100}) {
      if (!trees.empty()) expectClassesHold(layout, "trees", treeAllReduce(trees, chunks));
    }
  }
}

// The whole is the sum of the rounds, and no link is busier than its round lasts.
TEST(ForEachRound, EndsWhereTheClockDoes) {
  for (const ReplicaLayout& layout :
       {fullLayout("pod64", 4), fullLayout("pod64-twist", 4), tunedLayout("pod64", 5, 4)}) {
    const Topology topology(layout.spec);
    for (const TimedSchedule& each : timedSchedules(topology, layout, allReduceOf(layout, 100'000))) {
      Picoseconds end{0};
      int rounds = 0;
      std::uint64_t busiest = 0;
      std::map<int, std::uint64_t> bytes_of;
      forEachRound(topology, layout, each.schedule, 100'000, 4, [&](const Round& round) {
        EXPECT_EQ(round.number, rounds++);
        EXPECT_EQ(round.begin, end);
        end = round.begin + round.transfers + round.cost;
        for (const LinkUse& use : round.links) {
          const Link& link = topology.links()[static_cast<std::size_t>(use.link)];
          EXPECT_LE(transferTime(use.bytes, link.bytes_per_s), round.transfers);
          busiest = std::max(busiest, bytes_of[use.link] += use.bytes);
        }
        EXPECT_FALSE(round.copies.empty());
      });
      EXPECT_EQ(end, each.time.total) << textOfTuned(layout, each.name);
      EXPECT_EQ(rounds, each.time.rounds);
      EXPECT_EQ(busiest, each.time.bytes_on_busiest_link) << textOfTuned(layout, each.name);
    }
  }
}

TEST(QuickestAllReduce, IsNeverSlowerThanGclsChoice) {
  for (const ReplicaLayout& layout : layouts()) {
    const Topology topology(layout.spec);
    for (const std::uint64_t count : {1000ULL, 16'000'000ULL})
      EXPECT_LE(quickestSchedule(topology, layout, allReduceOf(layout, count)).time.total,
                gclChoice(topology, layout, allReduceOf(layout, count)).time.total)
          << textOfTuned(layout, std::to_string(count));
  }
}

// Nothing but bandwidth, 16 MiB, all widths alike and Graphcore's.
TEST(QuickestAllReduce, WithoutCostsOfStepsIsWithin5PercentOfTheBound) {
  for (const char* pod : {"pod64", "pod64-torus", "pod64-twist"}) {
    for (const int machines : {1, 2, 4, 8, 16}) {
      for (const std::uint64_t rung_in_rails : {1U, 2U}) {
        ReplicaLayout layout = fullLayout(pod, machines);
        layout.spec.step_cost = layout.spec.sync_hop_latency = Picoseconds(0);
        layout.spec.links.rung_bytes_per_s = rung_in_rails * layout.spec.links.rail_bytes_per_s;
        const Topology topology(layout.spec);
        constexpr std::uint64_t kCount = 4 << 20;
        const TimedSchedule quickest = quickestSchedule(topology, layout, allReduceOf(layout, kCount));
        const double ratio = static_cast<double>(quickest.time.total.count()) /
                             static_cast<double>(allReduceLowerBound(topology, layout, kCount * 4).count());
        EXPECT_LE(ratio, 1.05) << textOfTuned(layout, quickest.name) << ", rungs of " << rung_in_rails
                               << " rails";
        EXPECT_GE(ratio, 1) << textOfTuned(layout, quickest.name);
      }
    }
  }
}

TEST(PackTrees, GivesSpanningTreesOfDirectLinks) {
  const Topology topology(podSpecByName("pod16").value());
  int units = 0;
  for (const Tree& tree : packTrees(topology, 16, 32)) {
    units += tree.units;
    int roots = 0;
    for (int replica = 0; replica < 16; ++replica) {
      const int parent = tree.parent[static_cast<std::size_t>(replica)];
      if (parent < 0) {
        ++roots;
        EXPECT_EQ(replica, tree.root);
      } else {
        EXPECT_TRUE(topology.linkId(replica, parent, LinkKind::kRail) >= 0 ||
                    topology.linkId(replica, parent, LinkKind::kRung) >= 0);
        EXPECT_EQ(tree.depth[static_cast<std::size_t>(replica)],
                  tree.depth[static_cast<std::size_t>(parent)] + 1);
      }
    }
    EXPECT_EQ(roots, 1);
  }
  EXPECT_EQ(units, 32);
}

TEST(PackTrees, FindsNoneWhereDirectLinksDoNotJoinAll) {
  PodSpec spec = podSpecByName("pod64-torus").value();
  EXPECT_TRUE(packTrees(Topology(spec), 0 + 3, 4).size() > 0);
  spec.removed_links = {{0, 1}, {0, 2}, {0, 62}};
  EXPECT_TRUE(packTrees(Topology(spec), 64, 4).empty());
}

}  // namespace
}  // namespace pop::pod
