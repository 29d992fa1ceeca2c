// SPDX-License-Identifier: Apache-2.0
#include "popdistd/partitions/ipu_inventory.h"

#include <gtest/gtest.h>

#include "tests/unit/popdistd/partitions/fixture.h"

namespace pop::vipu {
namespace {

Agent machine(std::string id, int ild, int position) {
  Agent agent{.id = std::move(id), .cluster = "c"};
  agent.ild = ild;
  agent.position = position;
  return agent;
}

class InventoryTest : public ::testing::Test {
 protected:
  InventoryTest() {
    EXPECT_TRUE(inventory_.addCluster({.id = "c", .shape = {.ilds = 2, .machines_per_ild = 2}}).ok());
    EXPECT_TRUE(inventory_.addAgent(machine("m0", 0, 0)).ok());
    EXPECT_TRUE(inventory_.addAgent(machine("m1", 0, 1)).ok());
    EXPECT_TRUE(inventory_.addAgent(machine("m2", 1, 1)).ok());
    EXPECT_TRUE(inventory_.setAllocation({"a", "c", {"m2", "m0"}, {}}).ok());
  }

  const Allocation& a() const { return *inventory_.allocation("a"); }

  Inventory inventory_;
};

TEST_F(InventoryTest, AnAllocationHasTheIpusOfItsMachines) {
  EXPECT_EQ(inventory_.ipusOf(a()), (IpuMasks{0x0f, 0xf0}));
  const auto agents = inventory_.agentsOf(a());
  ASSERT_EQ(agents.size(), 2U);
  EXPECT_EQ(agents[0]->id, "m0") << "by ILD and position";
  EXPECT_EQ(inventory_.agentAt("c", 1, 1)->id, "m2");
  EXPECT_EQ(inventory_.agentAt("c", 1, 0), nullptr);
  EXPECT_EQ(inventory_.allocationOf(*inventory_.agent("m0")), &a());
  EXPECT_EQ(inventory_.allocationOf(*inventory_.agent("m1")), nullptr);
}

TEST_F(InventoryTest, LostAndDrainedMachinesAreNotUsable) {
  ASSERT_TRUE(inventory_.setLost("m0", true).ok());
  EXPECT_EQ(inventory_.usableIpusOf(a()), (IpuMasks{0, 0xf0}));
  ASSERT_TRUE(inventory_.setDrained("m2", "fan").ok());
  EXPECT_EQ(inventory_.usableIpusOf(a()), (IpuMasks{0, 0}));
  EXPECT_EQ(inventory_.ipusOf(a()), (IpuMasks{0x0f, 0xf0}));
  ASSERT_TRUE(inventory_.setDrained("m2", std::nullopt).ok());
  ASSERT_TRUE(inventory_.setLost("m0", false).ok());
  EXPECT_EQ(inventory_.usableIpusOf(a()), inventory_.ipusOf(a()));
}

TEST_F(InventoryTest, AReplacedAllocationFreesItsMachines) {
  ASSERT_TRUE(inventory_.setAllocation({"a", "c", {"m1"}, {"alice"}}).ok());
  EXPECT_EQ(inventory_.ipusOf(a()), (IpuMasks{0xf0, 0}));
  EXPECT_TRUE(inventory_.setAllocation({"b", "c", {"m0"}, {}}).ok());
}

TEST_F(InventoryTest, AnAgentMayReportOtherVersionsButNoOtherPlace) {
  ASSERT_TRUE(inventory_.setDrained("m0", "fan").ok());
  Agent report = machine("m0", 0, 0);
  report.ip = "10.0.0.1";
  report.gwsw_version = "2.6.0";
  ASSERT_TRUE(inventory_.updateAgent(report).ok());
  EXPECT_EQ(inventory_.agent("m0")->ip, "10.0.0.1");
  EXPECT_EQ(inventory_.agent("m0")->gwsw_version, "2.6.0");
  EXPECT_EQ(inventory_.agent("m0")->drained, "fan");
  EXPECT_EQ(inventory_.updateAgent(machine("m0", 1, 0)).code(), Code::kFailedPrecondition);
  EXPECT_EQ(inventory_.updateAgent(machine("m9", 0, 0)).code(), Code::kNotFound);
}

TEST_F(InventoryTest, RefusesWhatContradictsIt) {
  EXPECT_EQ(inventory_.addCluster({.id = "c"}).code(), Code::kAlreadyExists);
  EXPECT_EQ(inventory_.addCluster({.id = "a b"}).code(), Code::kInvalidArgument);
  EXPECT_EQ(inventory_.addCluster({.id = "d", .shape = {.ilds = 0}}).code(), Code::kInvalidArgument);
  EXPECT_EQ(inventory_.addCluster({.id = "d", .shape = {.ilds = 1, .machines_per_ild = 17}}).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(inventory_.addAgent(machine("m0", 1, 0)).code(), Code::kAlreadyExists);
  EXPECT_EQ(inventory_.addAgent(machine("m3", 0, 0)).code(), Code::kFailedPrecondition) << "m0 is there";
  EXPECT_EQ(inventory_.addAgent(machine("m3", 2, 0)).code(), Code::kInvalidArgument);
  EXPECT_EQ(inventory_.addAgent(machine("m3", 0, 2)).code(), Code::kInvalidArgument);
  EXPECT_EQ(inventory_.addAgent(Agent{.id = "m3", .cluster = "d"}).code(), Code::kNotFound);
  EXPECT_EQ(inventory_.setAllocation({"b", "d", {}, {}}).code(), Code::kNotFound);
  EXPECT_EQ(inventory_.setAllocation({"b", "c", {"m9"}, {}}).code(), Code::kNotFound);
  EXPECT_EQ(inventory_.setAllocation({"b", "c", {"m0"}, {}}).code(), Code::kFailedPrecondition)
      << "it is in a";
  EXPECT_EQ(inventory_.setAllocation({"b", "c", {"m1", "m1"}, {}}).code(), Code::kInvalidArgument);
  EXPECT_EQ(inventory_.allocation("b"), nullptr);
}

TEST_F(InventoryTest, NothingGoesWhileSomethingBelongsToIt) {
  EXPECT_EQ(inventory_.removeAgent("m0").code(), Code::kFailedPrecondition);
  EXPECT_EQ(inventory_.removeCluster("c").code(), Code::kFailedPrecondition);
  ASSERT_TRUE(inventory_.removeAllocation("a").ok());
  EXPECT_EQ(inventory_.removeCluster("c").code(), Code::kFailedPrecondition);
  for (const char* const id : {"m0", "m1", "m2"}) ASSERT_TRUE(inventory_.removeAgent(id).ok());
  EXPECT_TRUE(inventory_.removeCluster("c").ok());
  EXPECT_EQ(inventory_.removeCluster("c").code(), Code::kNotFound);
  EXPECT_EQ(inventory_.removeAgent("m0").code(), Code::kNotFound);
  EXPECT_EQ(inventory_.removeAllocation("a").code(), Code::kNotFound);
}

TEST_F(InventoryTest, APlaceIsFreeWhenItsMachineIsGone) {
  ASSERT_TRUE(inventory_.removeAgent("m1").ok());
  EXPECT_TRUE(inventory_.addAgent(machine("m4", 0, 1)).ok());
}

TEST(AllocationInUse, KeepsTheMachinesOfItsPartitions) {
  PartitionTable table;
  addPod(table, {.machines = 2});
  create(table, asks("p", 4));
  const std::string first = machineName("c", 0, 0);
  const std::string second = machineName("c", 0, 1);
  EXPECT_EQ(table.setAllocation({"a", "c", {second}, {}}).code(), Code::kFailedPrecondition);
  EXPECT_EQ(table.removeAllocation("a").code(), Code::kFailedPrecondition);
  EXPECT_TRUE(table.setAllocation({"a", "c", {first}, {}}).ok());
  removeAll(table, "p");
  EXPECT_TRUE(table.removeAllocation("a").ok());
  EXPECT_TRUE(table.removeAgent(first).ok());
}

}  // namespace
}  // namespace pop::vipu
