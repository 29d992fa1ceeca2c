// SPDX-License-Identifier: Apache-2.0
#include "agent/topo/hwloc_topology.h"

#include <hwloc.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "agent/topo/allowed_cpus.h"

namespace pop::agent {
namespace {

using model::CpuSet;
using model::HostTopology;
using model::TopologyDetail;

class LoadedTopology {
 public:
  using Source = std::function<bool(hwloc_topology_t)>;  ///< false: not to be had
  static Result<LoadedTopology> load(TopologyDetail detail, const Source& source);

  HostTopology values(TopologyDetail detail) const;
  bool isThisHost() const { return hwloc_topology_is_thissystem(topology_.get()) != 0; }

 private:
  explicit LoadedTopology(hwloc_topology_t topology) : topology_(topology, hwloc_topology_destroy) {}

  CpuSet setOf(hwloc_const_bitmap_t bitmap) const;
  std::vector<hwloc_obj_t> objectsAt(int depth) const;
  std::vector<model::MemoryNode> nodes(const CpuSet& allowed) const;
  std::vector<model::Core> cores(const CpuSet& allowed) const;

  std::unique_ptr<hwloc_topology, void (*)(hwloc_topology_t)> topology_;
};

Result<LoadedTopology> LoadedTopology::load(TopologyDetail detail, const Source& source) {
  const Status failed(Code::kInternal, "hwloc cannot determine the topology (see `lstopo`)");
  // Plug-ins look for devices, which placement does not use, and loading them takes longer than everything
  // else.
  ::setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) return failed;
  LoadedTopology topology(made);
  // Include what is not allowed: CPUs whose memory node is forbidden still belong to that node.
  unsigned long flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED | HWLOC_TOPOLOGY_FLAG_NO_DISTANCES |
                        HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS;
  if (detail != TopologyDetail::kCores) flags |= HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;
  hwloc_topology_set_flags(made, flags);
  hwloc_topology_set_cache_types_filter(made, HWLOC_TYPE_FILTER_KEEP_NONE);
  // hwloc would query every CPU for data that the kernel has already given.
  hwloc_topology_set_components(made, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
  if (!source(made)) return failed;
  if (hwloc_topology_load(made) != 0) return failed;
  return topology;
}

CpuSet LoadedTopology::setOf(hwloc_const_bitmap_t bitmap) const {
  std::vector<int> members;
  for (int bit = hwloc_bitmap_next(bitmap, -1); bit != -1; bit = hwloc_bitmap_next(bitmap, bit))
    members.push_back(bit);
  return CpuSet(std::move(members));
}

std::vector<hwloc_obj_t> LoadedTopology::objectsAt(int depth) const {
  std::vector<hwloc_obj_t> objects(hwloc_get_nbobjs_by_depth(topology_.get(), depth));
  for (unsigned index = 0; index < objects.size(); ++index)
    objects[index] = hwloc_get_obj_by_depth(topology_.get(), depth, index);
  return objects;
}

// If hwloc gives the same CPUs to several nodes, the later nodes are memory only (high-bandwidth memory,
// memory behind CXL, GPU memory): the kernel numbers those last.
std::vector<model::MemoryNode> LoadedTopology::nodes(const CpuSet& allowed) const {
  const std::vector<hwloc_obj_t> objects = objectsAt(HWLOC_TYPE_DEPTH_NUMANODE);
  std::map<unsigned, CpuSet> cpus_of;  // by the system's numbers, and in their order
  for (const hwloc_obj* object : objects) cpus_of[object->os_index] = setOf(object->cpuset) & allowed;
  CpuSet left = allowed;
  for (auto& [index, cpus] : cpus_of) {
    cpus = cpus & left;
    left = left - cpus;
  }
  const hwloc_const_nodeset_t usable = hwloc_topology_get_allowed_nodeset(topology_.get());
  std::vector<model::MemoryNode> nodes;
  for (const hwloc_obj* object : objects) {
    const bool may_use = hwloc_bitmap_isset(usable, object->os_index) != 0;
    nodes.push_back({.index = static_cast<int>(object->os_index),
                     .cpus = std::move(cpus_of[object->os_index]),
                     .memory_bytes = may_use ? object->attr->numanode.local_memory : 0});
  }
  return nodes;
}

int packageOf(const hwloc_obj* object) {
  while (object != nullptr && object->type != HWLOC_OBJ_PACKAGE) object = object->parent;
  return object == nullptr ? 0 : static_cast<int>(object->logical_index);
}

std::vector<model::Core> LoadedTopology::cores(const CpuSet& allowed) const {
  // Some virtual machines show no cores: each CPU then counts as a core.
  const int core_depth = hwloc_get_type_depth(topology_.get(), HWLOC_OBJ_CORE);
  const int depth = core_depth >= 0 ? core_depth : hwloc_get_type_depth(topology_.get(), HWLOC_OBJ_PU);
  const bool several_kinds = hwloc_cpukinds_get_nr(topology_.get(), 0) > 1;
  std::vector<model::Core> cores;
  for (const hwloc_obj* object : objectsAt(depth)) {
    CpuSet cpus = setOf(object->cpuset) & allowed;
    if (cpus.empty()) continue;
    const int kind = several_kinds ? hwloc_cpukinds_get_by_cpuset(topology_.get(), object->cpuset, 0) : -1;
    cores.push_back({.cpus = std::move(cpus), .package = packageOf(object), .efficiency = kind});
  }
  return cores;
}

HostTopology LoadedTopology::values(TopologyDetail detail) const {
  HostTopology topology{.allowed = setOf(hwloc_topology_get_allowed_cpuset(topology_.get()))};
  if (isThisHost()) {
    if (const Result<CpuSet> ours = allowedCpus(); ours.ok())
      topology.allowed = topology.allowed & ours.value();  // taskset
  }
  topology.nodes = nodes(topology.allowed);
  if (detail == TopologyDetail::kCores) topology.cores = cores(topology.allowed);
  return topology;
}

Result<HostTopology> otherMachine(const std::string& what, const LoadedTopology::Source& source) {
  const Result<LoadedTopology> loaded = LoadedTopology::load(TopologyDetail::kCores, source);
  if (!loaded.ok()) return Status(loaded.code(), what + ": " + loaded.status().message());
  return loaded.value().values(TopologyDetail::kCores);
}

}  // namespace

Result<HostTopology> topologyOfThisHost(TopologyDetail detail) {
  POP_ASSIGN_OR_RETURN(const LoadedTopology loaded,
                       LoadedTopology::load(detail, [](hwloc_topology_t) { return true; }));
  if (!loaded.isThisHost()) {
    return Status(Code::kFailedPrecondition,
                  "hwloc describes a different machine (unset HWLOC_XMLFILE, HWLOC_SYNTHETIC, "
                  "HWLOC_FSROOT and HWLOC_CPUID_PATH)");
  }
  return loaded.values(detail);
}

Result<HostTopology> topologyFromSynthetic(const std::string& description) {
  return otherMachine(description, [&description](hwloc_topology_t topology) {
    return hwloc_topology_set_synthetic(topology, description.c_str()) == 0;
  });
}

Result<HostTopology> topologyFromXml(const std::string& path) {
  return otherMachine(path, [&path](hwloc_topology_t topology) {
    return hwloc_topology_set_xml(topology, path.c_str()) == 0;
  });
}

}  // namespace pop::agent
