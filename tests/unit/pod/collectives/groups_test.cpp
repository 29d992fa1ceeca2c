// SPDX-License-Identifier: Apache-2.0
// Every collective in groups of every kind, by every method, on integers.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "pod/clock/bounds.h"
#include "pod/clock/tuner.h"
#include "pod/collectives/gcl.h"
#include "tests/unit/pod/collectives/carried_out.h"

namespace pop::pod {
namespace {

ReplicaLayout layoutIn(const char* pod, int replicas, int ipus_per_replica = 1) {
  return {podSpecByName(pod).value(), replicas, ipus_per_replica};
}

std::vector<ReplicaLayout> layoutsOfGroups() {
  return {layoutIn("pod16", 1),        layoutIn("pod16", 6),        layoutIn("pod64", 16),
          layoutIn("pod64-twist", 16), layoutIn("pod64-torus", 12), layoutIn("pod64-torus", 8, 4),
          layoutIn("pod128", 8, 16),   layoutIn("pod256", 24, 8),   layoutIn("pod256", 4, 64)};
}

std::vector<ReplicaGroup> groupsOf(int replicas) {
  std::vector<ReplicaGroup> groups;
  for (int size = 1; size <= replicas; ++size) {
    for (int stride = 1; stride <= replicas / size; ++stride) {
      if (validate(ReplicaGroup(size, stride), replicas).ok()) groups.emplace_back(size, stride);
    }
  }
  return groups;
}

std::string textOfGroup(const ReplicaLayout& layout, ReplicaGroup group, const std::string& method) {
  return std::to_string(layout.replicas) + " replicas on " + layout.spec.name + " in groups of " +
         std::to_string(group.size) + ", " + std::to_string(group.stride) + " apart, " + method;
}

// The sum over the replica's group.
Blocks sumOfGroup(const std::vector<Blocks>& inputs, ReplicaGroup group, int replica) {
  Blocks sum(inputs.front().size());
  for (int place = 0; place < group.size; ++place) {
    const Blocks& blocks = inputs[static_cast<std::size_t>(group.with(replica, place))];
    for (std::size_t block = 0; block < sum.size(); ++block) sum[block] += blocks[block];
  }
  return sum;
}

// The blocks of a place's part.
struct Part {
  std::size_t begin;
  std::size_t end;
};
Part partOf(const Schedule& schedule, ReplicaGroup group, int place) {
  const std::size_t blocks = schedule.blocks / static_cast<std::size_t>(group.size);
  const std::size_t part = schedule.part_of_place[static_cast<std::size_t>(place)];
  return {part * blocks, (part + 1) * blocks};
}

// A round must not read what it writes: an executor may be in the middle of it.
void expectRoundsReadWhatWasThere(const Schedule& schedule) {
  for (const Phase& phase : schedule.phases) {
    for (int round = 0; round < phase.rounds; ++round) {
      std::set<std::pair<int, std::uint32_t>> read;
      std::set<std::pair<int, std::uint32_t>> written;
      phase.transfers(round, [&](const Transfer& transfer) {
        for (std::uint32_t block = transfer.first; block < transfer.first + transfer.blocks; ++block) {
          read.emplace(transfer.from, block);
          written.emplace(transfer.to, block);
        }
      });
      for (const auto& each : read)
        ASSERT_FALSE(written.contains(each)) << "round " << round << " of " << phase.name;
    }
  }
}

template <typename Check>
void forEachSchedule(CollectiveKind kind, const Check& check) {
  for (const ReplicaLayout& layout : layoutsOfGroups()) {
    const Topology topology(layout.spec);
    for (const ReplicaGroup& group : groupsOf(layout.replicas)) {
      const Collective collective{.kind = kind, .group = group, .count = 4096, .root = group.size / 2};
      for (const TimedSchedule& each : timedSchedules(topology, layout, collective)) {
        SCOPED_TRACE(textOfGroup(layout, group, each.name));
        EXPECT_GE(each.time.total, lowerBound(topology, layout, collective));
        check(layout, collective, each.schedule);
      }
    }
  }
}

TEST(Groups, AllReduceGivesEachReplicaTheSumOfItsGroup) {
  forEachSchedule(CollectiveKind::kAllReduce, [](const ReplicaLayout& layout, const Collective& collective,
                                                 const Schedule& schedule) {
    if (schedule.blocks > 5'000) return;
    const std::vector<Blocks> inputs = inputsOf(schedule);
    std::vector<Blocks> replicas = inputs;
    carryOut(schedule, replicas);
    for (int replica = 0; replica < layout.replicas; ++replica)
      ASSERT_EQ(replicas[static_cast<std::size_t>(replica)], sumOfGroup(inputs, collective.group, replica));
    expectRoundsReadWhatWasThere(schedule);
  });
}

TEST(Groups, ReduceScatterLeavesEachPlaceItsPart) {
  forEachSchedule(CollectiveKind::kReduceScatter,
                  [](const ReplicaLayout& layout, const Collective& collective, const Schedule& schedule) {
                    const std::vector<Blocks> inputs = inputsOf(schedule);
                    std::vector<Blocks> replicas = inputs;
                    carryOut(schedule, replicas);
                    for (int replica = 0; replica < layout.replicas; ++replica) {
                      const Blocks sum = sumOfGroup(inputs, collective.group, replica);
                      const Part part = partOf(schedule, collective.group, collective.group.placeOf(replica));
                      for (std::size_t block = part.begin; block < part.end; ++block)
                        ASSERT_EQ(replicas[static_cast<std::size_t>(replica)][block], sum[block]) << replica;
                    }
                    expectRoundsReadWhatWasThere(schedule);
                  });
}

TEST(Groups, AllGatherGivesEachReplicaThePartsOfItsGroup) {
  forEachSchedule(CollectiveKind::kAllGather,
                  [](const ReplicaLayout& layout, const Collective& collective, const Schedule& schedule) {
                    const std::vector<Blocks> inputs = inputsOf(schedule);
                    std::vector<Blocks> replicas = inputs;
                    carryOut(schedule, replicas);
                    for (int replica = 0; replica < layout.replicas; ++replica) {
                      for (int place = 0; place < collective.group.size; ++place) {
                        const int from = collective.group.with(replica, place);
                        const Part part = partOf(schedule, collective.group, place);
                        for (std::size_t block = part.begin; block < part.end; ++block)
                          ASSERT_EQ(replicas[static_cast<std::size_t>(replica)][block],
                                    inputs[static_cast<std::size_t>(from)][block]);
                      }
                    }
                    expectRoundsReadWhatWasThere(schedule);
                  });
}

TEST(Groups, BroadcastGivesEachReplicaWhatItsRootHas) {
  forEachSchedule(CollectiveKind::kBroadcast, [](const ReplicaLayout& layout, const Collective& collective,
                                                 const Schedule& schedule) {
    const std::vector<Blocks> inputs = inputsOf(schedule);
    std::vector<Blocks> replicas = inputs;
    carryOut(schedule, replicas);
    for (int replica = 0; replica < layout.replicas; ++replica) {
      const int root = collective.group.with(replica, collective.root);
      ASSERT_EQ(replicas[static_cast<std::size_t>(replica)], inputs[static_cast<std::size_t>(root)]);
    }
    expectRoundsReadWhatWasThere(schedule);
  });
}

TEST(Groups, AllToAllSendsEachOtherPlaceItsPartOnce) {
  forEachSchedule(CollectiveKind::kAllToAll, [](const ReplicaLayout& layout, const Collective& collective,
                                                const Schedule& schedule) {
    std::set<std::pair<int, int>> sent;
    for (const Phase& phase : schedule.phases) {
      for (int round = 0; round < phase.rounds; ++round) {
        phase.transfers(round, [&](const Transfer& transfer) {
          EXPECT_EQ(static_cast<int>(transfer.first), collective.group.placeOf(transfer.to));
          EXPECT_EQ(transfer.to, collective.group.with(transfer.from, collective.group.placeOf(transfer.to)));
          EXPECT_TRUE(sent.emplace(transfer.from, transfer.to).second);
        });
      }
    }
    EXPECT_EQ(sent.size(), static_cast<std::size_t>(layout.replicas * (collective.group.size - 1)));
  });
}

TEST(Groups, ThatDoNotDivideTheReplicasAreRefused) {
  for (const ReplicaGroup& group : {ReplicaGroup(5), ReplicaGroup(0), ReplicaGroup(-1), ReplicaGroup(2, 3),
                                    ReplicaGroup(2, 0), ReplicaGroup(32), ReplicaGroup(1 << 30, 1 << 30)}) {
    const Status status = validate(group, 16);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << group.size << " " << group.stride;
  }
  EXPECT_EQ(validate(ReplicaGroup(5), 16).message(),
            "groups of 5 replicas do not divide the job's 16 replicas");
  EXPECT_EQ(validate(ReplicaGroup(2, 3), 16).message(),
            "groups of 2 replicas 3 apart do not divide the job's 16 replicas");
}

TEST(Groups, OrthogonalOnesOfWholeIldsUseGatewaysOnly) {
  const ReplicaLayout layout = layoutIn("pod128", 128);
  for (const Phase& phase : gclAllReduce(layout, ReplicaGroup(2, 64)).phases) {
    for (int round = 0; round < phase.rounds; ++round)
      phase.transfers(round, [](const Transfer& each) { EXPECT_EQ(each.to % 64, each.from % 64); });
  }
}

}  // namespace
}  // namespace pop::pod
