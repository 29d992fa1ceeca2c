// SPDX-License-Identifier: Apache-2.0
// Hosts as values, for tests of what is placed on them.
#pragma once

#include <numeric>
#include <vector>

#include "common/model/topology.h"

namespace pop::testing {

/// `num_nodes` memory nodes of `cores` cores each, one CPU a core, numbered one after another.
inline model::HostTopology grid(int num_nodes, int cores) {
  model::HostTopology topology;
  for (int node = 0; node < num_nodes; ++node) {
    std::vector<int> cpus(static_cast<std::size_t>(cores));
    std::iota(cpus.begin(), cpus.end(), node * cores);
    for (const int cpu : cpus) topology.cores.push_back({.cpus = model::CpuSet({cpu}), .package = node});
    topology.nodes.push_back({.index = node, .cpus = model::CpuSet(cpus), .memory_bytes = 1 << 30});
    topology.allowed = topology.allowed | topology.nodes.back().cpus;
  }
  return topology;
}

}  // namespace pop::testing
