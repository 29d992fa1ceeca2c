// SPDX-License-Identifier: Apache-2.0
// Records of an earlier life of the daemon.
#include <gtest/gtest.h>

#include <functional>

#include "tests/unit/popdistd/partitions/fixture.h"

namespace pop::vipu {
namespace {

std::vector<Partition> recordsOf(const PartitionTable& table) {
  std::vector<Partition> records;
  for (const auto& [id, partition] : table.partitions()) records.push_back(partition);
  return records;
}

void fill(PartitionTable& table) {
  createActive(table, asks("active", 4));
  ASSERT_TRUE(table.bind("active", "7").ok());
  create(table, asks("creating", 8));
  createActive(table, asks("quarantine", 1));
  ASSERT_TRUE(table.remove("quarantine", false, at(1)).ok());
  ASSERT_TRUE(table.notReleased("quarantine", "h0", at(2)).ok());
  CreateRequest segments = asks("segments", 32);
  segments.requirements.num_segments = 2;
  segments.requirements.num_gcds = 4;
  createActive(table, segments);
}

TEST(PartitionRestore, GivesTheSameTable) {
  PartitionTable before;
  addPod(before, {.ilds = 2});
  fill(before);
  PartitionTable after;
  addPod(after, {.ilds = 2});
  const Status restored = after.restore(recordsOf(before));
  ASSERT_TRUE(restored.ok()) << restored.message();
  EXPECT_EQ(after.partitions(), before.partitions());
  EXPECT_EQ(after.heldBy("7")->id, "active");
  EXPECT_EQ(after.capacityOf("a").value().free, before.capacityOf("a").value().free);
  EXPECT_EQ(after.plan(asks("p", 16)).value(), before.plan(asks("p", 16)).value())
      << "the next one goes where it went";
}

TEST(PartitionRestore, TakesAllOrNone) {
  PartitionTable before;
  addPod(before, {.ilds = 2});
  fill(before);
  using Damage = std::function<void(std::vector<Partition>&)>;
  const std::vector<std::pair<const char*, Damage>> damages{
      {"twice", [](auto& records) { records.push_back(records.front()); }},
      {"no name", [](auto& records) { records.back().id = "../p"; }},
      {"one IPU, two owners",
       [](auto& records) { records.back().spec.ipus[0] = records.front().spec.ipus[0]; }},
      {"one IPU twice",
       [](auto& records) {
         records.back().spec.ipus[1].topology_id = records.back().spec.ipus[0].topology_id;
       }},
      {"an IPU that cannot be", [](auto& records) { records.back().spec.ipus[3].topology_id = 64; }},
      {"an ILD that cannot be", [](auto& records) { records.back().spec.ipus[3].ild_topology_id = -1; }},
      {"an ILD that is not there", [](auto& records) { records.back().spec.ipus[3].ild_topology_id = 2; }},
      {"routing ids", [](auto& records) { records.back().spec.ipus[3].routing_id = 4; }},
      {"size", [](auto& records) { records.back().spec.size = 16; }},
      {"segments", [](auto& records) { records.back().spec.num_segments = 0; }},
      {"GCDs", [](auto& records) { records.back().spec.num_gcds = 0; }},
      {"allocation", [](auto& records) { records.back().spec.allocation = "b"; }},
      {"cluster", [](auto& records) { records.back().spec.cluster = "d"; }},
      {"one job, two partitions", [](auto& records) { records.back().job = "7"; }},
      {"a partition that is gone", [](auto& records) { records.back().state = PartitionState::kRemoved; }},
  };
  for (const auto& [name, damage] : damages) {
    std::vector<Partition> records = recordsOf(before);
    damage(records);
    PartitionTable after;
    addPod(after, {.ilds = 2});
    EXPECT_EQ(after.restore(records).code(), Code::kDataLoss) << name;
    EXPECT_TRUE(after.partitions().empty()) << name;
    EXPECT_EQ(after.capacityOf("a").value().free, 128) << name;
  }
}

}  // namespace
}  // namespace pop::vipu
