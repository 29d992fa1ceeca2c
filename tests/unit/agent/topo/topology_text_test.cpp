// SPDX-License-Identifier: Apache-2.0
#include "agent/topo/topology_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "agent/topo/hwloc_topology.h"
#include "common/wire/agent_codec.h"

namespace pop::agent {
namespace {

using model::HostTopology;
using model::TopologyDetail;
using ::testing::HasSubstr;

TEST(TopologyText, IsTheTopologyAgain) {
  for (const char* name : {"two_sockets_eight_nodes", "sub_numa_clusters", "hybrid_cores", "offline_cpus",
                           "memoryless_nodes", "restricted_by_cgroup", "high_bandwidth_memory"}) {
    const HostTopology topology =
        topologyFromXml(POP_SOURCE_DIR "/tests/golden/topologies/" + std::string(name) + ".xml").value();
    const Result<HostTopology> again = parseTopology(topologyText(topology));
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(again.value(), topology) << name;
    const Result<HostTopology> on_the_wire = wire::decode(wire::encode(topology));
    ASSERT_TRUE(on_the_wire.ok()) << "is refused by launchers: " << on_the_wire.status().message();
    EXPECT_EQ(on_the_wire.value(), topology) << name;
  }
}

TEST(TopologyText, ReadsAsItsHeaderSays) {
  HostTopology topology{.allowed = model::CpuSet({0, 1, 2, 3})};
  topology.nodes = {{.index = 0, .cpus = topology.allowed, .memory_bytes = 67108864}, {.index = 2}};
  topology.cores = {{.cpus = model::CpuSet({0, 1}), .package = 0, .efficiency = -1}};
  EXPECT_EQ(topologyText(topology), "allowed 0-3\nnode 0 67108864 0-3\nnode 2 0 -\ncore 0 -1 0-1\n");
}

TEST(TopologyText, WithALineOfAnotherKindIsRefusedByName) {
  for (const char* line : {"nodes 0 1 0-1", "node 0 0-1", "node x 1 0-1", "node 0 -1 0-1", "core 0 0 -",
                           "core 0 0 1-", "allowed", "allowed 0 1", " "}) {
    const Result<HostTopology> read = parseTopology("allowed 0-1\nnode 0 1 0-1\n" + std::string(line) + "\n");
    EXPECT_EQ(read.code(), Code::kInvalidArgument) << line;
    EXPECT_THAT(read.status().message(), HasSubstr("'" + std::string(line) + "'"));
  }
}

TEST(TopologyText, NeedsCpusAndANode) {
  EXPECT_FALSE(parseTopology("").ok());
  EXPECT_FALSE(parseTopology("allowed 0-1\n").ok());
  EXPECT_FALSE(parseTopology("node 0 1 0-1\n").ok());
}

TEST(TopologyDetailName, IsReadBack) {
  for (const TopologyDetail detail : {TopologyDetail::kCpus, TopologyDetail::kNodes, TopologyDetail::kCores})
    EXPECT_EQ(parseTopologyDetail(topologyDetailName(detail)).value(), detail);
  EXPECT_FALSE(parseTopologyDetail("").ok());
}

}  // namespace
}  // namespace pop::agent
