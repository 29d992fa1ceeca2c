// SPDX-License-Identifier: Apache-2.0
// The facts about a host that placement needs: its memory nodes, cores and allowed CPUs. Values only;
// agent/topo finds them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/model/cpu_set.h"

namespace pop::model {

/// Detail of a topology that a placement needs; less is cheaper to find out.
enum class TopologyDetail : std::uint8_t {
  kCpus,   ///< the CPUs that we may use, as one memory node
  kNodes,  ///< the memory nodes too
  kCores,  ///< and the cores
};

struct MemoryNode {
  int index = 0;  ///< the operating system's
  CpuSet cpus;    ///< nearest to it, and allowed, each CPU in one node; empty for a node with memory alone
  std::uint64_t memory_bytes = 0;  ///< 0: it has none, or none that we may use

  friend bool operator==(const MemoryNode&, const MemoryNode&) = default;
};

struct Core {
  CpuSet cpus;  ///< its hardware threads that are allowed; never empty
  int package = 0;
  int efficiency = -1;  ///< greater is faster, -1: all are alike (hybrid processors have several kinds)

  friend bool operator==(const Core&, const Core&) = default;
};

struct HostTopology {
  CpuSet allowed;                 ///< by taskset and cgroups; never empty
  std::vector<MemoryNode> nodes;  ///< in the order of the machine: package by package; at least one
  std::vector<Core> cores;        ///< in the order of the machine: package, node, core. Empty below kCores
  double quota_cpus = 0;          ///< CPU time that the cgroup allows all our processes, in CPUs; 0: no limit
  bool memory_binding_allowed = true;  ///< containers may forbid it
  std::string nodes_problem;  ///< why nodes that were asked for could not be found out: `nodes` is one then

  friend bool operator==(const HostTopology&, const HostTopology&) = default;
};

}  // namespace pop::model
