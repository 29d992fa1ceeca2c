// SPDX-License-Identifier: Apache-2.0
// Properties of bindings for every machine and every number of instances.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "agent/topo/hwloc_topology.h"
#include "common/base/random.h"
#include "common/model/binding.h"

namespace pop::model {
namespace {

using ::testing::ElementsAre;

struct Case {
  std::string machine;
  HostTopology topology;
  BindPolicy policy;
  int instances = 1;
};

std::string synthetic(SplitMix64& random) {
  std::string machine;
  for (const auto& [level, most] : {std::pair{"pack:", 3U}, {" numa:", 4U}, {" core:", 6U}, {" pu:", 2U}})
    machine += level + std::to_string(1 + random.below(most));
  return machine;
}

// A part of what the machine has, as taskset, cgroups and firmware leave it.
void restrict(SplitMix64& random, HostTopology& topology) {
  std::vector<int> allowed;
  for (const int cpu : topology.allowed.cpus()) {
    if (random.below(5) != 0) allowed.push_back(cpu);
  }
  if (allowed.empty()) return;
  topology.allowed = CpuSet(allowed);
  for (MemoryNode& node : topology.nodes) {
    node.cpus = node.cpus & topology.allowed;
    if (random.below(4) == 0) node.memory_bytes = 0;
  }
  topology.nodes.front().memory_bytes = 1;
  for (Core& core : topology.cores) core.cpus = core.cpus & topology.allowed;
  std::erase_if(topology.cores, [](const Core& core) { return core.cpus.empty(); });
  for (Core& core : topology.cores) core.efficiency = static_cast<int>(random.below(2));
}

void checkWhatAlwaysHolds(const Case& what, const Bindings& bindings) {
  ASSERT_EQ(bindings.instances.size(), static_cast<std::size_t>(what.instances));
  CpuSet with_memory;
  for (const MemoryNode& node : what.topology.nodes) {
    if (node.memory_bytes > 0) with_memory = with_memory | CpuSet({node.index});
  }
  int threads = 0;
  for (const Binding& binding : bindings.instances) {
    EXPECT_EQ(binding.cpus & what.topology.allowed, binding.cpus) << "a CPU that is not allowed";
    EXPECT_EQ(binding.memory_nodes & with_memory, binding.memory_nodes) << "a node without memory";
    EXPECT_EQ(binding.cpus.empty() || what.topology.nodes.size() == 1, binding.memory_nodes.empty());
    EXPECT_GE(binding.threads, 1);
    EXPECT_FALSE(binding.reason.empty());
    if (binding.threads > 1) threads += binding.threads;  // one may be more than a share
  }
  EXPECT_LE(threads, what.topology.allowed.size());
  EXPECT_LE(bindings.warnings.size(), 1U);
  EXPECT_EQ(bindings.instances, bind(what.topology, what.policy, what.instances)->instances);
}

// Either no instance is bound, which one node or one instance explains, or all are.
void checkNodesAreDivided(const Case& what, const Bindings& bindings) {
  std::vector<MemoryNode> nodes = what.topology.nodes;
  std::erase_if(nodes, [](const MemoryNode& node) { return node.cpus.empty(); });
  const bool divided = nodes.size() > 1 && what.instances > 1;
  CpuSet used;
  int given = 0;
  for (const Binding& binding : bindings.instances) {
    EXPECT_NE(divided, binding.cpus.empty());
    used = used | binding.cpus;
    given += binding.cpus.size();
    for (const MemoryNode& node : nodes) {
      const CpuSet common = node.cpus & binding.cpus;
      EXPECT_TRUE(common.empty() || common == node.cpus) << "part of a node";
    }
  }
  if (!divided) return;
  EXPECT_EQ(used, what.topology.allowed) << "a node that nobody uses";
  const bool enough = static_cast<std::size_t>(what.instances) <= nodes.size();
  if (enough) {
    EXPECT_EQ(given, used.size()) << "a CPU of two instances";
  }
  EXPECT_EQ(bindings.warnings.empty(), enough);
}

void checkCoresAreDivided(const Case& what, const Bindings& bindings) {
  if (what.instances == 1) return;
  const bool enough = static_cast<std::size_t>(what.instances) <= what.topology.cores.size();
  CpuSet used;
  int given = 0;
  for (const Binding& binding : bindings.instances) {
    const CpuSet& cpus = binding.cpus.empty() ? what.topology.allowed : binding.cpus;
    used = used | cpus;
    given += cpus.size();
  }
  EXPECT_EQ(used, what.topology.allowed);
  if (enough) {
    EXPECT_EQ(given, used.size()) << "a CPU of two instances";
  }
}

void checkAllModes(Case what, int cores_per_instance) {
  for (const BindMode mode : {BindMode::kSpreadNuma, BindMode::kSpreadCores, BindMode::kCompact}) {
    SCOPED_TRACE(what.machine + ", mode " + std::to_string(static_cast<int>(mode)) + ", instances " +
                 std::to_string(what.instances));
    what.policy = {.mode = mode};
    Result<Bindings> bindings = bind(what.topology, what.policy, what.instances);
    ASSERT_TRUE(bindings.ok()) << bindings.status().message();
    checkWhatAlwaysHolds(what, *bindings);
    mode == BindMode::kSpreadNuma ? checkNodesAreDivided(what, *bindings)
                                  : checkCoresAreDivided(what, *bindings);
    if (mode == BindMode::kSpreadNuma) continue;
    what.policy.cores_per_instance = cores_per_instance;
    checkWhatAlwaysHolds(what, bind(what.topology, what.policy, what.instances).value());
  }
}

TEST(EveryBinding, KeepsTheRulesOnRandomMachines) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SplitMix64 random(seed);
    Case what{.machine = synthetic(random)};
    Result<HostTopology> topology = agent::topologyFromSynthetic(what.machine);
    ASSERT_TRUE(topology.ok()) << topology.status().message();
    what.topology = std::move(topology).value();
    if (random.below(2) == 0) restrict(random, what.topology);
    what.instances = 1 + static_cast<int>(random.below(30));
    checkAllModes(what, 1 + static_cast<int>(random.below(what.topology.cores.size())));
  }
}

Case stored(const std::string& name) {
  return {
      .machine = name,
      .topology = agent::topologyFromXml(POP_SOURCE_DIR "/tests/golden/topologies/" + name + ".xml").value()};
}

TEST(EveryBinding, KeepsTheRulesOnStoredMachines) {
  for (const char* name : {"two_sockets_eight_nodes", "sub_numa_clusters", "hybrid_cores", "offline_cpus",
                           "memoryless_nodes", "restricted_by_cgroup", "high_bandwidth_memory"}) {
    Case what = stored(name);
    for (what.instances = 1; what.instances < 20; ++what.instances) checkAllModes(what, 3);
  }
}

// "cpus | memory nodes | threads" of each instance.
std::vector<std::string> placed(const std::string& machine, int num_instances,
                                const BindPolicy& policy = {}) {
  Result<Bindings> bindings = bind(stored(machine).topology, policy, num_instances);
  std::vector<std::string> lines;
  for (const Binding& binding : bindings->instances) {
    lines.push_back(binding.cpus.text() + " | " + binding.memory_nodes.text() + " | " +
                    std::to_string(binding.threads));
  }
  return lines;
}

TEST(StoredMachines, AreDividedByTheirNodes) {
  EXPECT_THAT(placed("two_sockets_eight_nodes", 4),
              ElementsAre("0-31 | 0-1 | 32", "32-63 | 2-3 | 32", "64-95 | 4-5 | 32", "96-127 | 6-7 | 32"));
  EXPECT_THAT(placed("sub_numa_clusters", 2),
              ElementsAre("0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40,42,44,46 | 0,2 | 24",
                          "1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,39,41,43,45,47 | 1,3 | 24"));
  EXPECT_THAT(placed("hybrid_cores", 2), ElementsAre(" |  | 8", " |  | 8"));
  EXPECT_THAT(placed("offline_cpus", 2), ElementsAre("0-2,4-7 | 0 | 7", "10-15 | 1 | 6"));
  EXPECT_THAT(placed("memoryless_nodes", 4),
              ElementsAre("0-3 | 0 | 4", "4-7 | 0,2 | 4", "8-11 | 2 | 4", "12-15 | 0,2 | 4"));
  EXPECT_THAT(placed("restricted_by_cgroup", 4),
              ElementsAre("2-3 | 0 | 2", "4-7 | 1 | 4", "8-11 | 0-1 | 4", "12-15 | 0-1 | 4"));
  EXPECT_THAT(placed("high_bandwidth_memory", 2), ElementsAre("0-3 | 0 | 4", "4-7 | 2 | 4"));
}

TEST(StoredMachines, AreDividedByTheirCores) {
  EXPECT_THAT(placed("hybrid_cores", 4, {.mode = BindMode::kSpreadCores}),
              ElementsAre("0-1,8-9 |  | 4", "2-3,10-11 |  | 4", "4-5,12-13 |  | 4", "6-7,14-15 |  | 4"));
  EXPECT_THAT(placed("sub_numa_clusters", 2, {.mode = BindMode::kSpreadCores, .cores_per_instance = 2}),
              ElementsAre("0,2,24,26 | 0 | 4", "1,3,25,27 | 1 | 4"));
  EXPECT_THAT(placed("sub_numa_clusters", 2, {.mode = BindMode::kCompact, .cores_per_instance = 2}),
              ElementsAre("0,2,24,26 | 0 | 4", "4,6,28,30 | 0 | 4"));
}

}  // namespace
}  // namespace pop::model
