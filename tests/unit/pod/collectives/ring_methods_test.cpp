// SPDX-License-Identifier: Apache-2.0
// Schedules are carried out block by block on integers, whose sums are exact in any order.
#include "pod/collectives/ring_methods.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "pod/collectives/gcl.h"

namespace pop::pod {
namespace {

constexpr RingMethod kMethods[] = {RingMethod::kClockwise, RingMethod::kAnticlockwise,
                                   RingMethod::kBidirectionalPair, RingMethod::kMeetInTheMiddle,
                                   RingMethod::kQuadDirectional};

using Blocks = std::vector<std::uint64_t>;

// Each replica's blocks. A round reads what was there before it.
void carryOut(const Schedule& schedule, std::vector<Blocks>& replicas) {
  for (const Phase& phase : schedule.phases) {
    for (int round = 0; round < phase.rounds; ++round) {
      const std::vector<Blocks> before = replicas;
      phase.transfers(round, [&](const Transfer& transfer) {
        for (std::uint32_t block = transfer.first; block < transfer.first + transfer.blocks; ++block) {
          const std::uint64_t sent = before[static_cast<std::size_t>(transfer.from)][block];
          std::uint64_t& own = replicas[static_cast<std::size_t>(transfer.to)][block];
          own = transfer.reduces ? own + sent : sent;
        }
      });
    }
  }
}

std::vector<Blocks> inputsOf(const Schedule& schedule) {
  std::vector<Blocks> replicas(static_cast<std::size_t>(schedule.replicas), Blocks(schedule.blocks));
  std::uint64_t next = 1;
  for (Blocks& blocks : replicas) {
    for (std::uint64_t& block : blocks) block = next = next * 6364136223846793005U + 1442695040888963407U;
  }
  return replicas;
}

Blocks sumOf(const std::vector<Blocks>& replicas, std::size_t first, std::size_t end) {
  Blocks sum(replicas.front().size());
  for (std::size_t replica = first; replica < end; ++replica) {
    for (std::size_t block = 0; block < sum.size(); ++block) sum[block] += replicas[replica][block];
  }
  return sum;
}

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
      const RingMethod up = kMethods[(static_cast<std::size_t>(down) + 2) % 5];
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
      const Schedule scatter = gclReduceScatter(tested.layout(), tested.group, {method, method});
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

TEST(RingMethods, NamesAreThoseOfGclOptions) {
  for (const RingMethod method : kMethods) EXPECT_EQ(ringMethodNamed(nameOf(method)).value(), method);
  const Result<RingMethod> unknown = ringMethodNamed("ring");
  EXPECT_EQ(unknown.code(), Code::kInvalidArgument);
  EXPECT_NE(unknown.status().message().find("meet_in_middle_ring"), std::string::npos);
}

}  // namespace
}  // namespace pop::pod
