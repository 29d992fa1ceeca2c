// SPDX-License-Identifier: Apache-2.0
#include "common/model/binding.h"

#include <algorithm>
#include <limits>
#include <set>

#include "common/base/text.h"

namespace pop::model {
namespace {

constexpr const char* kKnob = "--process-placement";

const char* nameOf(BindMode mode) {
  switch (mode) {
    case BindMode::kSpreadNuma:
      return "spreadnuma";
    case BindMode::kSpreadCores:
      return "spreadcores";
    case BindMode::kCompact:
      return "compact";
    case BindMode::kExplicit:
      return "list";
    case BindMode::kDisabled:
      return "disabled";
  }
  return "";
}

std::string byKnob(BindMode mode) {
  return std::string(": ") + kKnob + ' ' + nameOf(mode);
}

// Part `index` of `count` things divided among `parts`: neighbours, and at least one, so that several parts
// share a thing if there are more parts than things.
struct Block {
  std::size_t begin = 0;
  std::size_t end = 0;
};

Block blockOf(std::size_t count, int index, int parts) {
  const auto part = static_cast<std::size_t>(index);
  const auto whole = static_cast<std::size_t>(parts);
  const std::size_t begin = part * count / whole;
  return {begin, std::max(begin + 1, (part + 1) * count / whole)};
}

// Memory nodes near `cpus`. CPUs without local memory get all nodes: the kernel then takes the nearest.
CpuSet memoryNear(const HostTopology& topology, const CpuSet& cpus) {
  std::vector<int> near;
  std::vector<int> all;
  for (const MemoryNode& node : topology.nodes) {
    if (node.memory_bytes == 0) continue;
    all.push_back(node.index);
    if (!(node.cpus & cpus).empty()) near.push_back(node.index);
  }
  return CpuSet(near.empty() ? all : near);
}

// An instance that has all CPUs needs no binding.
Binding boundTo(const HostTopology& topology, CpuSet cpus, std::string reason) {
  if (cpus == topology.allowed) return {.reason = std::move(reason)};
  CpuSet memory = topology.nodes.size() > 1 ? memoryNear(topology, cpus) : CpuSet();
  return {.cpus = std::move(cpus), .memory_nodes = std::move(memory), .reason = std::move(reason)};
}

std::vector<Binding> unbound(int num_instances, const std::string& reason) {
  return {static_cast<std::size_t>(num_instances), Binding{.reason = reason}};
}

// ---- spreadnuma

Result<Bindings> divideNodes(const HostTopology& topology, const BindPolicy& policy, int num_instances) {
  if (num_instances == 1) {
    return Bindings{
        unbound(1, "one instance for the whole host, nothing to divide" + byKnob(BindMode::kSpreadNuma)), {}};
  }
  if (!topology.nodes_problem.empty()) {
    if (policy.nodes_required) return failedPrecondition(topology.nodes_problem);
    return Bindings{unbound(num_instances, "the memory nodes are not known"),
                    {"nothing is bound: " + topology.nodes_problem}};
  }
  std::vector<MemoryNode> nodes = topology.nodes;
  std::erase_if(nodes, [](const MemoryNode& node) { return node.cpus.empty(); });
  if (nodes.size() <= 1) {
    return Bindings{
        unbound(num_instances, "one memory node, nothing to divide" + byKnob(BindMode::kSpreadNuma)), {}};
  }
  Bindings bindings;
  for (int instance = 0; instance < num_instances; ++instance) {
    const Block block = blockOf(nodes.size(), instance, num_instances);
    CpuSet cpus;
    std::vector<int> indices;
    for (std::size_t node = block.begin; node < block.end; ++node) {
      cpus = cpus | nodes[node].cpus;
      indices.push_back(nodes[node].index);
    }
    bindings.instances.push_back(boundTo(topology, std::move(cpus),
                                         (indices.size() == 1 ? "memory node " : "memory nodes ") +
                                             CpuSet(indices).text() + " of " + std::to_string(nodes.size()) +
                                             byKnob(BindMode::kSpreadNuma)));
  }
  if (static_cast<std::size_t>(num_instances) > nodes.size()) {
    const std::string most = std::to_string(nodes.size());
    bindings.warnings.push_back(
        std::to_string(num_instances) + " instances share " + most +
        " memory nodes (NUMA): those on one node compete for its CPUs and memory bandwidth and slow each "
        "other down; use at most " +
        most + " instances a host (--num-instances, --host)");
  }
  return bindings;
}

// ---- spreadcores, compact

std::set<int> efficienciesOf(const std::vector<Core>& cores) {
  std::set<int> efficiencies;
  for (const Core& core : cores) efficiencies.insert(core.efficiency);
  return efficiencies;
}

std::vector<Core> coresOf(const std::vector<Core>& cores, int efficiency) {
  std::vector<Core> result;
  std::copy_if(cores.begin(), cores.end(), std::back_inserter(result),
               [efficiency](const Core& core) { return core.efficiency == efficiency; });
  return result;
}

void take(const std::vector<Core>& cores, Block block, CpuSet& cpus) {
  for (std::size_t core = block.begin; core < block.end; ++core)
    cpus = cpus | cores[core % cores.size()].cpus;
}

// All cores, divided so that every instance gets its share of each kind: a job is as fast as its slowest
// instance.
std::vector<CpuSet> shareAllCores(const std::vector<Core>& cores, int num_instances) {
  std::vector<std::vector<Core>> kinds;
  for (const int efficiency : efficienciesOf(cores)) kinds.push_back(coresOf(cores, efficiency));
  const bool enough_of_each = std::all_of(kinds.begin(), kinds.end(), [&](const std::vector<Core>& kind) {
    return kind.size() >= static_cast<std::size_t>(num_instances);
  });
  if (!enough_of_each) kinds = {cores};
  std::vector<CpuSet> shares(static_cast<std::size_t>(num_instances));
  for (const std::vector<Core>& kind : kinds) {
    for (int instance = 0; instance < num_instances; ++instance) {
      take(kind, blockOf(kind.size(), instance, num_instances), shares[static_cast<std::size_t>(instance)]);
    }
  }
  return shares;
}

// The fastest kinds of cores that suffice for all instances.
std::vector<Core> fastEnough(const std::vector<Core>& cores, std::size_t wanted) {
  std::vector<Core> chosen;
  const std::set<int> efficiencies = efficienciesOf(cores);
  for (auto slowest = efficiencies.rbegin(); slowest != efficiencies.rend() && chosen.size() < wanted;
       ++slowest) {
    chosen.clear();
    std::copy_if(cores.begin(), cores.end(), std::back_inserter(chosen),
                 [&](const Core& core) { return core.efficiency >= *slowest; });
  }
  return chosen;
}

// A fixed number of cores for each instance: consecutive, or at even distances. Starts over when the cores
// run out.
std::vector<CpuSet> handOutCores(const HostTopology& topology, const BindPolicy& policy, int num_instances) {
  const auto each = static_cast<std::size_t>(policy.cores_per_instance);
  std::vector<Core> cores = fastEnough(topology.cores, each * static_cast<std::size_t>(num_instances));
  const bool compact = policy.mode == BindMode::kCompact;
  if (compact) {
    std::stable_sort(cores.begin(), cores.end(),
                     [](const Core& a, const Core& b) { return a.efficiency > b.efficiency; });
  }
  std::vector<CpuSet> shares(static_cast<std::size_t>(num_instances));
  for (int instance = 0; instance < num_instances; ++instance) {
    const std::size_t begin = compact ? static_cast<std::size_t>(instance) * each
                                      : blockOf(cores.size(), instance, num_instances).begin;
    take(cores, {begin, begin + each}, shares[static_cast<std::size_t>(instance)]);
  }
  return shares;
}

Result<Bindings> divideCores(const HostTopology& topology, const BindPolicy& policy, int num_instances) {
  const std::size_t cores = topology.cores.size();
  const std::size_t each = static_cast<std::size_t>(std::max(0, policy.cores_per_instance));
  if (cores == 0) return Status(Code::kFailedPrecondition, "the cores of this host are not known");
  if (each > cores) {
    return invalidArgument(std::string(kKnob) + ' ' + nameOf(policy.mode) + ": " +
                           counted(policy.cores_per_instance, "core") +
                           " for each instance, but poprun may use only " + std::to_string(cores));
  }
  std::vector<CpuSet> shares = each == 0 ? shareAllCores(topology.cores, num_instances)
                                         : handOutCores(topology, policy, num_instances);
  Bindings bindings;
  for (CpuSet& share : shares) {
    const auto taken = std::count_if(topology.cores.begin(), topology.cores.end(),
                                     [&share](const Core& core) { return !(core.cpus & share).empty(); });
    bindings.instances.push_back(boundTo(topology, std::move(share),
                                         std::to_string(taken) + " of " +
                                             counted(static_cast<std::int64_t>(cores), "core") +
                                             byKnob(policy.mode)));
  }
  const std::size_t wanted = std::max<std::size_t>(1, each) * static_cast<std::size_t>(num_instances);
  if (wanted > cores) {
    bindings.warnings.push_back(counted(num_instances, "instance") + " want " + std::to_string(wanted) +
                                " cores and share " + std::to_string(cores) +
                                ": those on one core slow each other down (--num-instances, " + kKnob + ')');
  }
  return bindings;
}

// ---- the user's lists

Result<Bindings> bindByList(const HostTopology& topology, const BindPolicy& policy, int num_instances) {
  if (policy.explicit_cpus.empty()) return invalidArgument(std::string(kKnob) + ": names no CPUs");
  Bindings bindings;
  CpuSet refused;
  for (int instance = 0; instance < num_instances; ++instance) {
    const std::size_t list = static_cast<std::size_t>(instance) % policy.explicit_cpus.size();
    const CpuSet& cpus = policy.explicit_cpus[list];
    if (cpus.empty()) return invalidArgument(std::string(kKnob) + ": one of its lists is empty");
    refused = refused | (cpus - topology.allowed);
    bindings.instances.push_back({.cpus = cpus,
                                  .memory_nodes = memoryNear(topology, cpus),
                                  .reason = "list " + std::to_string(list + 1) + " of " +
                                            std::to_string(policy.explicit_cpus.size()) + ": " + kKnob});
  }
  if (refused.empty()) return bindings;
  return invalidArgument(std::string(kKnob) + ": poprun may not use CPU " + refused.text() +
                         " (offline, absent, or not allowed by taskset or a cgroup; it may use " +
                         topology.allowed.text() + ')');
}

// ---- for all modes

void leaveMemoryWhereForbidden(const HostTopology& topology, Bindings& bindings) {
  if (topology.memory_binding_allowed) return;
  bool missed = false;
  for (Binding& binding : bindings.instances) {
    missed = missed || !binding.memory_nodes.empty();
    binding.memory_nodes = {};
  }
  if (!missed || topology.nodes.size() <= 1) return;
  bindings.warnings.push_back(
      std::string("memory is not bound: this container may not set memory policies ") +
      "(CAP_SYS_NICE allows it), so memory lies where it is first touched; " + kKnob +
      " disabled binds nothing");
}

void countThreads(const HostTopology& topology, std::vector<Binding>& instances) {
  if (topology.allowed.empty()) return;
  std::vector<int> sharers(static_cast<std::size_t>(topology.allowed.cpus().back()) + 1);
  const auto cpusOf = [&topology](const Binding& binding) -> const std::vector<int>& {
    return binding.cpus.empty() ? topology.allowed.cpus() : binding.cpus.cpus();
  };
  for (const Binding& binding : instances) {
    for (const int cpu : cpusOf(binding)) ++sharers[static_cast<std::size_t>(cpu)];
  }
  constexpr double kRounding = 1e-6;  // three thirds of a CPU are one
  double most = std::numeric_limits<int>::max();
  if (topology.quota_cpus > 0) most = topology.quota_cpus / static_cast<double>(instances.size());
  for (Binding& binding : instances) {
    double share = 0;
    for (const int cpu : cpusOf(binding)) share += 1.0 / sharers[static_cast<std::size_t>(cpu)];
    binding.threads = std::max(1, static_cast<int>(std::min(share, most) + kRounding));
  }
}

Result<Bindings> bindByMode(const HostTopology& topology, const BindPolicy& policy, int num_instances) {
  switch (policy.mode) {
    case BindMode::kSpreadNuma:
      return divideNodes(topology, policy, num_instances);
    case BindMode::kSpreadCores:
    case BindMode::kCompact:
      return divideCores(topology, policy, num_instances);
    case BindMode::kExplicit:
      if (!topology.nodes_problem.empty()) return failedPrecondition(topology.nodes_problem);
      return bindByList(topology, policy, num_instances);
    case BindMode::kDisabled:
      break;
  }
  return Bindings{unbound(num_instances, std::string(kKnob) + " disabled"), {}};
}

}  // namespace

TopologyDetail detailFor(const BindPolicy& policy, int num_instances) {
  switch (policy.mode) {
    case BindMode::kSpreadNuma:  // one instance has them all
      return num_instances <= 1 ? TopologyDetail::kCpus : TopologyDetail::kNodes;
    case BindMode::kExplicit:
      return TopologyDetail::kNodes;
    case BindMode::kSpreadCores:
    case BindMode::kCompact:
      return TopologyDetail::kCores;
    case BindMode::kDisabled:
      break;
  }
  return TopologyDetail::kCpus;
}

Result<Bindings> bind(const HostTopology& topology, const BindPolicy& policy, int num_instances) {
  POP_ASSIGN_OR_RETURN(Bindings bindings, bindByMode(topology, policy, num_instances));
  leaveMemoryWhereForbidden(topology, bindings);
  countThreads(topology, bindings.instances);
  return bindings;
}

}  // namespace pop::model
