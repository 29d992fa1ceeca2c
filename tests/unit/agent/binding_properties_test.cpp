// SPDX-License-Identifier: Apache-2.0
// What holds for every machine and every number of instances.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "agent/topo/topology_probe.h"
#include "common/base/random.h"
#include "common/model/binding.h"

namespace pop::model {
namespace {

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

// Either nobody is bound, which one node or one instance explains, or everybody is.
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

TEST(EveryBinding, KeepsTheRulesOnRandomMachines) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SplitMix64 random(seed);
    Case what{.machine = synthetic(random)};
    Result<HostTopology> topology = agent::topologyFromSynthetic(what.machine);
    ASSERT_TRUE(topology.ok()) << topology.status().message();
    what.topology = std::move(topology).value();
    if (random.below(2) == 0) restrict(random, what.topology);
    what.instances = 1 + static_cast<int>(random.below(30));
    for (const BindMode mode : {BindMode::kSpreadNuma, BindMode::kSpreadCores, BindMode::kCompact}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + what.machine + ", mode " +
                   std::to_string(static_cast<int>(mode)) + ", instances " + std::to_string(what.instances));
      what.policy = {.mode = mode};
      Result<Bindings> bindings = bind(what.topology, what.policy, what.instances);
      ASSERT_TRUE(bindings.ok()) << bindings.status().message();
      checkWhatAlwaysHolds(what, *bindings);
      mode == BindMode::kSpreadNuma ? checkNodesAreDivided(what, *bindings)
                                    : checkCoresAreDivided(what, *bindings);
      if (mode == BindMode::kSpreadNuma) continue;
      what.policy.cores_per_instance = 1 + static_cast<int>(random.below(what.topology.cores.size()));
      checkWhatAlwaysHolds(what, bind(what.topology, what.policy, what.instances).value());
    }
  }
}

}  // namespace
}  // namespace pop::model
