// SPDX-License-Identifier: Apache-2.0
#include "popdistd/partitions/ipuof.h"

#include <gtest/gtest.h>

#include "tests/unit/popdistd/partitions/fixture.h"

namespace pop::vipu {
namespace {

// V-IPU's file of a reconfigurable partition, but for the IPUs' chips.
constexpr const char* kFile = R"({
    "devices":  [
        {
            "ip":  "10.5.21.9",
            "server_port":  50052,
            "rdma_port":  7471,
            "device_id":  3,
            "ipulink_segment_id":  0,
            "routing_id":  0,
            "ipu_arch_id":  2,
            "ipu_id":  3,
            "chip_id":  "emulated.c-0-0.3",
            "gwsw_version":  "2.3.1"
        },
        {
            "ip":  "10.5.21.9",
            "server_port":  50053,
            "rdma_port":  7472,
            "device_id":  2,
            "ipulink_segment_id":  0,
            "routing_id":  1,
            "ipu_arch_id":  2,
            "ipu_id":  2,
            "chip_id":  "emulated.c-0-0.2",
            "gwsw_version":  "2.3.1"
        }
    ],
    "attributes":  {
        "Fabric Reconfigurable":  "true",
        "IPU version":  "ipu2",
        "Num Replicas":  "1",
        "Routing Type":  "DNC",
        "Sync Type":  "c2-compatible"
    }
}
)";

TEST(Ipuof, TheFileIsLaidOutAsVIpuDoes) {
  PartitionTable table;
  addPod(table);
  CreateRequest request = asks("p2", 2);
  request.requirements.reconfigurable = true;
  createActive(table, request);
  const auto config = gcdConfig(*table.find("p2"), 0, table.inventory());
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(ipuofFileText(config.value()), kFile);
  EXPECT_EQ(ipuofFileName("p2", 0), "p2_gcd0_ipuof.conf");
}

TEST(Ipuof, RoutingIdsGoOnFromMachineToMachineWhilePortsBeginAnew) {
  PartitionTable table;
  addPod(table);
  createActive(table, asks("p16", 16));
  const GcdConfig config = gcdConfig(*table.find("p16"), 0, table.inventory()).value();
  ASSERT_EQ(config.devices.size(), 16U);
  for (std::size_t i = 0; i < 16; ++i) {
    const IpuofDevice& device = config.devices[i];
    const int in_machine = static_cast<int>(i % 4);
    EXPECT_EQ(device.ip, "10.5.21." + std::to_string(9 + i / 4));
    EXPECT_EQ(device.routing_id, static_cast<int>(i));
    EXPECT_EQ(device.server_port, 50052 + in_machine);
    EXPECT_EQ(device.rdma_port, 7471 + in_machine);
    EXPECT_EQ(device.device_id, 3 - in_machine);
    EXPECT_EQ(device.ipu_id, 3 - in_machine);
  }
}

TEST(Ipuof, GcdsHaveEqualPartsAndSegmentsTheirIds) {
  PartitionTable table;
  addPod(table, {.ilds = 2});
  CreateRequest request = asks("p", 8);
  request.requirements.num_segments = 2;
  request.requirements.num_gcds = 4;
  createActive(table, request);
  const auto configs = gcdConfigs(*table.find("p"), table.inventory()).value();
  ASSERT_EQ(configs.size(), 4U);
  int routing_id = 0;
  for (std::size_t gcd = 0; gcd < 4; ++gcd) {
    ASSERT_EQ(configs[gcd].devices.size(), 2U);
    EXPECT_EQ(configs[gcd].attributes.at("GCD Id"), std::to_string(gcd));
    EXPECT_EQ(configs[gcd].attributes.at("Num Replicas"), "4");
    for (const IpuofDevice& device : configs[gcd].devices) {
      EXPECT_EQ(device.routing_id, routing_id++);
      EXPECT_EQ(device.ipulink_segment_id, gcd < 2 ? 0 : 1);
    }
    EXPECT_EQ(gcdConfig(*table.find("p"), static_cast<std::uint32_t>(gcd), table.inventory()).value(),
              configs[gcd]);
  }
}

TEST(Ipuof, OnlyActivePartitionsHaveOne) {
  PartitionTable table;
  addPod(table);
  create(table, asks("p", 4));
  EXPECT_EQ(gcdConfig(*table.find("p"), 0, table.inventory()).code(), Code::kFailedPrecondition);
  EXPECT_EQ(gcdConfigs(*table.find("p"), table.inventory()).code(), Code::kFailedPrecondition);
  EXPECT_EQ(gcdConfig(*table.find("p"), 1, table.inventory()).code(), Code::kNotFound);
}

class GcdHosts : public ::testing::Test {
 protected:
  // 16 machines on hosts h0 to h3.
  GcdHosts() { addPod(table_); }

  std::vector<std::string> hostsOf(std::uint32_t size, std::uint32_t gcds) {
    CreateRequest request = asks("p" + std::to_string(next_++), size);
    request.requirements.num_gcds = gcds;
    create(table_, request);
    return gcdHosts(table_.find(request.requirements.id)->spec, table_.inventory());
  }

  PartitionTable table_;
  int next_ = 0;
};

using Hosts = std::vector<std::string>;

TEST_F(GcdHosts, AreEvenlyThoseOfTheAllocation) {
  EXPECT_EQ(hostsOf(16, 8), (Hosts{"h0", "h0", "h1", "h1", "h2", "h2", "h3", "h3"}));
  EXPECT_EQ(hostsOf(16, 2), (Hosts{"h1", "h3"})) << "from the host on that serves its first machine";
  EXPECT_EQ(hostsOf(16, 1), (Hosts{"h2"}));
}

TEST_F(GcdHosts, LeaveOutHostsWithoutUsableMachines) {
  for (int position = 4; position < 8; ++position)
    ASSERT_TRUE(table_.machineLost(machineName("c", 0, position), "", at(0)).ok());
  EXPECT_EQ(hostsOf(4, 4), (Hosts{"h0", "h0", "h2", "h3"}));
}

}  // namespace
}  // namespace pop::vipu
