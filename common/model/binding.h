// SPDX-License-Identifier: Apache-2.0
// Assigns CPUs and memory to each instance of a host. A pure function of the host's topology.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/model/topology.h"

namespace pop::model {

enum class BindMode : std::uint8_t {
  kSpreadNuma,   ///< the memory nodes are divided among the instances, CPUs and memory
  kSpreadCores,  ///< each instance gets its share of cores, as far from each other as they are
  kCompact,      ///< cores are given out from the first on, neighbours to neighbours
  kExplicit,     ///< the user's lists, one per local instance, again from the first when there are more
  kDisabled,     ///< nothing is bound
};

struct BindPolicy {
  BindMode mode = BindMode::kSpreadNuma;
  int cores_per_instance = 0;         ///< kSpreadCores, kCompact: 0 divides all cores
  std::vector<CpuSet> explicit_cpus;  ///< kExplicit: at least one
  bool nodes_required = false;  ///< kSpreadNuma was asked for; else nothing is bound where nodes are unknown

  friend bool operator==(const BindPolicy&, const BindPolicy&) = default;
};

/// The assignment of one instance. Instances with the same CPUs share them: the kernel balances them.
struct Binding {
  CpuSet cpus;          ///< empty: not bound
  CpuSet memory_nodes;  ///< empty: not bound
  int threads = 1;      ///< effective CPUs: its share of the CPUs and of the cgroup's quota, at least 1
  std::string reason;   ///< "memory node 1 of 4: --process-placement spreadnuma", for people

  friend bool operator==(const Binding&, const Binding&) = default;
};

struct Bindings {
  std::vector<Binding> instances;     ///< one per local instance, in order
  std::vector<std::string> warnings;  ///< each names a loss of speed and the knob
};

/// The topology detail that `bind` needs for this policy and so many instances of the host.
TopologyDetail detailFor(const BindPolicy& policy, int num_instances);

/// docs/reference/placement.md describes the modes. kInvalidArgument: the policy cannot be carried out on
/// this host; the message names --process-placement.
Result<Bindings> bind(const HostTopology& topology, const BindPolicy& policy, int num_instances);

}  // namespace pop::model
