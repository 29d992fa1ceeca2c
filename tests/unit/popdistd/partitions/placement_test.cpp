// SPDX-License-Identifier: Apache-2.0
// The IPUs that a partition gets.
#include <gtest/gtest.h>

#include <numeric>

#include "common/base/random.h"
#include "popdistd/partitions/ipu_blocks.h"
#include "tests/unit/popdistd/partitions/fixture.h"

namespace pop::vipu {
namespace {

std::vector<int> from(int first, int count) {
  std::vector<int> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

TEST(Placement, TakesTheSmallestFreeBlockThatFits) {
  PartitionTable table;
  addPod(table);
  create(table, asks("a", 1));
  create(table, asks("b", 4));
  create(table, asks("c", 1));
  create(table, asks("d", 2));
  create(table, asks("e", 16));
  EXPECT_EQ(topologyIds(*table.find("a")), from(0, 1));
  EXPECT_EQ(topologyIds(*table.find("b")), from(4, 4));
  EXPECT_EQ(topologyIds(*table.find("c")), from(1, 1));
  EXPECT_EQ(topologyIds(*table.find("d")), from(2, 2));
  EXPECT_EQ(topologyIds(*table.find("e")), from(16, 16));
}

TEST(Placement, TakesTheSmallestBlockOfAllAllocationsThatTheUserMayUse) {
  PartitionTable table;
  addPod(table, {.cluster = "large"}, "a");
  addPod(table, {.cluster = "small", .machines = 1}, "b");
  create(table, asks("p", 4));
  EXPECT_EQ(table.find("p")->spec.allocation, "b");
  create(table, asks("q", 4));
  EXPECT_EQ(table.find("q")->spec.allocation, "a");
}

TEST(Placement, SegmentsAreTheSameBlockInNeighbouringIlds) {
  PartitionTable table;
  addPod(table, {.ilds = 4});
  create(table, asks("first", 64));
  CreateRequest request = asks("p", 128);
  request.requirements.num_segments = 2;
  create(table, request);
  const PartitionSpec& spec = table.find("p")->spec;
  ASSERT_EQ(spec.ipus.size(), 128U);
  for (int i = 0; i < 128; ++i) {
    const PartitionIpu expected{1 + i / 64, i / 64, i % 64, i};
    EXPECT_EQ(spec.ipus[static_cast<std::size_t>(i)], expected);
  }
  create(table, asks("last", 64));
  EXPECT_EQ(table.find("last")->spec.ipus.front().ild_topology_id, 3);
}

TEST(Placement, LeavesOutMachinesThatAreLostOrDrained) {
  PartitionTable table;
  addPod(table, {.machines = 4});
  ASSERT_TRUE(table.drain(machineName("c", 0, 0), "fan").ok());
  ASSERT_TRUE(table.machineLost(machineName("c", 0, 1), "silent", at(0)).ok());
  create(table, asks("p", 4));
  EXPECT_EQ(topologyIds(*table.find("p")), from(8, 4));
  const auto large = table.create(asks("q", 8), at(0));
  EXPECT_EQ(large.code(), Code::kResourceExhausted);
  EXPECT_NE(large.status().message().find("8 more are on machines"), std::string::npos)
      << large.status().message();
  ASSERT_TRUE(table.resume(machineName("c", 0, 0)).ok());
  ASSERT_TRUE(table.machineFound(machineName("c", 0, 1)).ok());
  create(table, asks("q", 8));
  EXPECT_EQ(topologyIds(*table.find("q")), from(0, 8));
}

TEST(Placement, GivesTheIpusThatAreNamed) {
  PartitionTable table;
  addPod(table, {.ilds = 2});
  CreateRequest request = asks("p", 0);
  request.requirements.cluster = "c";
  request.requirements.ipus = {{1, 0, 7, 0}, {1, 0, 5, 0}};
  create(table, request);
  EXPECT_EQ(table.find("p")->spec.ipus, (std::vector<PartitionIpu>{{1, 0, 5, 0}, {1, 0, 7, 1}}));

  request.requirements.id = "numbered";
  request.requirements.ipus = {{0, 1, 9, 3}, {0, 1, 8, 2}, {1, 0, 9, 0}, {1, 0, 8, 1}};
  create(table, request);
  EXPECT_EQ(table.find("numbered")->spec.num_segments, 2);
  EXPECT_EQ(table.find("numbered")->spec.ipus,
            (std::vector<PartitionIpu>{{1, 0, 9, 0}, {1, 0, 8, 1}, {0, 1, 8, 2}, {0, 1, 9, 3}}));
}

TEST(Placement, SaysHowMuchIsFree) {
  PartitionTable table;
  addPod(table, {.machines = 8});
  create(table, asks("a", 4));
  create(table, asks("b", 8));
  create(table, asks("c", 8));
  removeAll(table, "b");
  const auto refused = table.create(asks("p", 16), at(0));
  EXPECT_EQ(refused.code(), Code::kResourceExhausted);
  EXPECT_EQ(
      refused.status().message().find("20 IPUs are free, the largest free block has 8: partition 'p' needs"),
      0U)
      << refused.status().message();
  const Capacity capacity = table.capacityOf("a").value();
  EXPECT_EQ(capacity.ipus, 32);
  EXPECT_EQ(capacity.owned, 12);
  EXPECT_EQ(capacity.free, 20);
  EXPECT_EQ(capacity.unusable, 0);
  EXPECT_EQ(capacity.largest_free_block, 8);
  EXPECT_DOUBLE_EQ(capacity.fragmentation, 0.5);
}

TEST(Placement, AnAllocationWithoutMachinesHasNoRoom) {
  PartitionTable table;
  addPod(table);
  ASSERT_TRUE(table.setAllocation({"a", "c", {}, {}}).ok());
  EXPECT_EQ(table.create(asks("p", 1), at(0)).code(), Code::kFailedPrecondition);
}

// The definition of a partition's block.
void checkBlock(const PartitionSpec& spec) {
  const int ipus = spec.segmentIpus();
  const int first = spec.ipus.front().topology_id;
  EXPECT_EQ(first % ipus, 0) << "aligned";
  for (int i = 0; i < spec.size; ++i) {
    const PartitionIpu expected{spec.ipus.front().ild_topology_id + i / ipus, i / ipus, first + i % ipus, i};
    EXPECT_EQ(spec.ipus[static_cast<std::size_t>(i)], expected);
  }
}

// Small clusters that are filled and emptied at random: it fits exactly when there is a free block by trying,
// and blocks never overlap. IpuBlocks' tests show that it is the smallest.
TEST(Placement, FitsExactlyWhenABlockIsFree) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SplitMix64 random(seed);
    PartitionTable table;
    const Shape shape{.ilds = static_cast<int>(1 + random.below(3)),
                      .machines = static_cast<int>(1 + random.below(5))};
    addPod(table, shape);
    std::vector<std::string> living;
    for (int turn = 0; turn < 60; ++turn) {
      if (!living.empty() && random.below(3) == 0) {
        const std::size_t which = random.below(living.size());
        removeAll(table, living[which]);
        living.erase(living.begin() + static_cast<std::ptrdiff_t>(which));
        continue;
      }
      CreateRequest request = asks("p" + std::to_string(turn), 1U << random.below(5));
      request.requirements.num_segments = random.below(4) == 0 && request.requirements.size > 1 ? 2 : 1;
      IpuMasks free = table.inventory().ipusOf(*table.inventory().allocation("a"));
      for (const auto& [id, partition] : table.partitions())
        for (const PartitionIpu& ipu : partition.spec.ipus)
          free[static_cast<std::size_t>(ipu.ild_topology_id)] &= ~(IpuMask{1} << ipu.topology_id);
      const int segments = static_cast<int>(request.requirements.num_segments);
      const bool fits =
          largestBlock(free, segments) * segments >= static_cast<int>(request.requirements.size);
      const auto created = table.create(request, at(0));
      ASSERT_EQ(created.ok(), fits) << created.status().message();
      if (!fits) continue;
      living.push_back(request.requirements.id);
      const PartitionSpec& spec = table.find(living.back())->spec;
      checkBlock(spec);
      for (const PartitionIpu& ipu : spec.ipus) EXPECT_TRUE(contains(free, ipu));
      if (::testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace pop::vipu
