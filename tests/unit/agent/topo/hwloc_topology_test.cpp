// SPDX-License-Identifier: Apache-2.0
#include "agent/topo/hwloc_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pop::agent {
namespace {

using model::HostTopology;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

HostTopology machine(const std::string& name) {
  Result<HostTopology> topology = topologyFromXml(POP_SOURCE_DIR "/tests/golden/topologies/" + name + ".xml");
  EXPECT_TRUE(topology.ok()) << topology.status().message();
  return topology.ok() ? topology.value() : HostTopology{};
}

std::vector<std::string> cpusOf(const std::vector<model::MemoryNode>& nodes) {
  std::vector<std::string> texts;
  for (const model::MemoryNode& node : nodes) texts.push_back(node.cpus.text());
  return texts;
}

TEST(StoredMachine, WithFourNodesASocketHasEight) {
  const HostTopology topology = machine("two_sockets_eight_nodes");
  EXPECT_EQ(topology.allowed.text(), "0-127");
  EXPECT_EQ(topology.cores.size(), 128U);
  EXPECT_EQ(topology.cores.back().package, 1);
  ASSERT_EQ(topology.nodes.size(), 8U);
  EXPECT_EQ(topology.nodes[5].cpus.text(), "80-95");
  EXPECT_EQ(topology.nodes[5].memory_bytes, 64000000000U);
}

TEST(StoredMachine, WithSubNumaClustersHasThemSocketBySocket) {
  const HostTopology topology = machine("sub_numa_clusters");
  EXPECT_THAT(cpusOf(topology.nodes),
              ElementsAre("0,2,4,6,8,10,24,26,28,30,32,34", "12,14,16,18,20,22,36,38,40,42,44,46",
                          "1,3,5,7,9,11,25,27,29,31,33,35", "13,15,17,19,21,23,37,39,41,43,45,47"));
  EXPECT_EQ(topology.nodes[1].index, 2);
  EXPECT_EQ(topology.cores.front().cpus.text(), "0,24");
  EXPECT_EQ(topology.cores.front().efficiency, -1);
}

TEST(StoredMachine, WithHybridCoresSaysWhichAreFast) {
  const HostTopology topology = machine("hybrid_cores");
  ASSERT_EQ(topology.cores.size(), 12U);
  EXPECT_EQ(topology.cores.front().cpus.text(), "0-1");
  EXPECT_EQ(topology.cores.back().cpus.text(), "15");
  EXPECT_GT(topology.cores.front().efficiency, topology.cores.back().efficiency);
}

TEST(StoredMachine, WithOfflineCpusHasNoneOfThem) {
  const HostTopology topology = machine("offline_cpus");
  EXPECT_EQ(topology.allowed.text(), "0-2,4-7,10-15");
  EXPECT_THAT(cpusOf(topology.nodes), ElementsAre("0-2,4-7", "10-15"));
  EXPECT_EQ(topology.cores.size(), 7U);
}

TEST(StoredMachine, WithMemorylessNodesKeepsTheirCpus) {
  const HostTopology topology = machine("memoryless_nodes");
  EXPECT_THAT(cpusOf(topology.nodes), ElementsAre("0-3", "4-7", "8-11", "12-15"));
  EXPECT_GT(topology.nodes[0].memory_bytes, 0U);
  EXPECT_EQ(topology.nodes[1].memory_bytes, 0U);
  EXPECT_EQ(topology.nodes[3].memory_bytes, 0U);
}

TEST(StoredMachine, RestrictedByACgroupKeepsTheNodesOfItsCpus) {
  const HostTopology topology = machine("restricted_by_cgroup");
  EXPECT_EQ(topology.allowed.text(), "2-15");
  EXPECT_THAT(cpusOf(topology.nodes), ElementsAre("2-3", "4-7", "8-11", "12-15"));
  EXPECT_GT(topology.nodes[1].memory_bytes, 0U);
  EXPECT_EQ(topology.nodes[2].memory_bytes, 0U) << "its memory is forbidden";
  EXPECT_EQ(topology.cores.size(), 14U);
}

TEST(StoredMachine, WithHighBandwidthMemoryHasNodesWithoutCpus) {
  EXPECT_THAT(cpusOf(machine("high_bandwidth_memory").nodes), ElementsAre("0-3", "", "4-7", ""));
}

TEST(SyntheticMachine, IsWhatItsDescriptionSays) {
  const HostTopology topology = topologyFromSynthetic("pack:2 numa:2 core:3 pu:2").value();
  EXPECT_EQ(topology.nodes.size(), 4U);
  EXPECT_EQ(topology.cores.size(), 12U);
  EXPECT_EQ(topology.allowed.text(), "0-23");
}

TEST(Topology, ThatCannotBeReadIsAnErrorNamingIt) {
  EXPECT_THAT(topologyFromXml("/nowhere.xml").status().message(), HasSubstr("/nowhere.xml"));
  EXPECT_THAT(topologyFromSynthetic("nonsense").status().message(), HasSubstr("nonsense"));
}

TEST(ThisHost, IsToBeDescribedEvenWithoutPlugins) {
  const Result<HostTopology> topology = topologyOfThisHost(model::TopologyDetail::kCores);
  ASSERT_TRUE(topology.ok()) << topology.status().message();
  EXPECT_FALSE(topology.value().cores.empty());
  EXPECT_FALSE(topology.value().nodes.empty());
}

}  // namespace
}  // namespace pop::agent
