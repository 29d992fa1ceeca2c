// SPDX-License-Identifier: Apache-2.0
// Schedules are carried out block by block on integers, whose sums are exact in any order.
#include "pod/collectives/ring_methods.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "pod/collectives/gcl.h"
#include "tests/unit/pod/collectives/carried_out.h"

namespace pop::pod {
namespace {

constexpr RingMethod kMethods[] = {RingMethod::kClockwise,         RingMethod::kAnticlockwise,
                                   RingMethod::kBidirectionalPair, RingMethod::kMeetInTheMiddle,
                                   RingMethod::kQuadDirectional,   RingMethod::kDirect};

struct Case {
  const char* pod;
  int replicas;
  int ipus_per_replica;
  int group;

  ReplicaLayout layout() const { return {podSpecByName(pod).value(), replicas, ipus_per_replica}; }
  std::string text() const {
    return std::to_string(replicas) + " replicas on " + pod + ", groups of " + std::to_string(group);
  }
};

constexpr Case kCases[] = {
    {"pod16", 1, 1, 1},         {"pod16", 2, 1, 2},    {"pod16", 3, 1, 3},    {"pod16", 4, 1, 2},
    {"pod16", 8, 2, 4},         {"pod16", 6, 1, 3},    {"pod16", 16, 1, 16},  {"pod64-torus", 16, 4, 16},
    {"pod64-twist", 64, 1, 64}, {"pod128", 16, 8, 1},  {"pod128", 16, 8, 4},  {"pod128", 16, 8, 16},
    {"pod256", 24, 8, 2},       {"pod256", 24, 8, 12}, {"pod256", 32, 8, 16}, {"pod256", 24, 8, 24},
    {"pod128", 128, 1, 128},
};

TEST(RingMethods, AllReduceGivesEachReplicaTheSumOfItsGroup) {
  for (const Case& tested : kCases) {
    for (const RingMethod down : kMethods) {
      const RingMethod up = kMethods[(static_cast<std::size_t>(down) + 2) % 6];
      SCOPED_TRACE(tested.text() + ", " + std::string(nameOf(down)));
      const Schedule schedule = gclAllReduce(tested.layout(), tested.group, {down, up});
      std::vector<Blocks> replicas = inputsOf(schedule);
      const std::vector<Blocks> before = replicas;
      carryOut(schedule, replicas);
      const auto group = static_cast<std::size_t>(tested.group);
      for (std::size_t replica = 0; replica < replicas.size(); ++replica) {
        const std::size_t first = replica / group * group;
        ASSERT_EQ(replicas[replica], sumOf(before, first, first + group)) << "replica " << replica;
      }
    }
  }
}

TEST(RingMethods, ReduceScatterThenAllGatherGiveEachReplicaTheSumOfAll) {
  for (const Case& tested : kCases) {
    for (const RingMethod method : kMethods) {
      SCOPED_TRACE(tested.text() + ", " + std::string(nameOf(method)));
      const Schedule scatter = gclReduceScatterOfAll(tested.layout(), tested.group, {method, method});
      const Schedule gather = gclAllGather(tested.layout(), tested.group, {method, method});
      std::vector<Blocks> replicas = inputsOf(scatter);
      const Blocks sum = sumOf(replicas, 0, replicas.size());
      carryOut(scatter, replicas);
      // A gather cuts no finer than the scatter before it.
      ASSERT_EQ(scatter.blocks % gather.blocks, 0U);
      Schedule same_blocks = gather;
      const std::uint32_t finer = scatter.blocks / gather.blocks;
      same_blocks.blocks = scatter.blocks;
      for (Phase& phase : same_blocks.phases) {
        phase.transfers = [coarse = phase.transfers, finer](int round, const Take& take) {
          coarse(round, [&](const Transfer& transfer) {
            take({transfer.from, transfer.to, transfer.first * finer, transfer.blocks * finer, false});
          });
        };
      }
      carryOut(same_blocks, replicas);
      for (const Blocks& blocks : replicas) ASSERT_EQ(blocks, sum);
    }
  }
}

TEST(RingMethods, EachClassCountsItsRoundsOnce) {
  for (const Case& tested : kCases) {
    for (const RingMethod method : kMethods) {
      for (const Phase& phase : gclAllReduce(tested.layout(), tested.group, {method, method}).phases) {
        int rounds = 0;
        for (const RoundClass& alike : phase.classes) rounds += alike.times;
        EXPECT_EQ(rounds, phase.rounds) << tested.text() << ", " << nameOf(method);
      }
    }
  }
}

TEST(RingMethods, AReplicaOwnsThePartOfItsPlace) {
  const ReplicaLayout layout = Case{"pod16", 16, 1, 16}.layout();
  const Schedule gather = gclAllGather(layout, 16);
  gather.phases.front().transfers(0, [](const Transfer& transfer) {
    EXPECT_EQ(transfer.first, static_cast<std::uint32_t>(transfer.from));
  });
}

}  // namespace
}  // namespace pop::pod
