// SPDX-License-Identifier: Apache-2.0
#include "agent/topo/topology_probe.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "agent/topo/cgroup_quota.h"
#include "agent/topo/hwloc_library.h"
#include "common/sys/fd.h"

namespace pop::agent {
namespace {

using model::CpuSet;
using model::HostTopology;
using model::TopologyDetail;

// ---- what the kernel says, without hwloc

Result<CpuSet> allowedCpus() {
  constexpr std::size_t kWordBits = CHAR_BIT * sizeof(unsigned long);
  // The kernel refuses a mask that is smaller than its own.
  for (std::vector<unsigned long> words(1024 / kWordBits);; words.resize(2 * words.size())) {
    const long bytes =
        ::syscall(SYS_sched_getaffinity, 0, words.size() * sizeof(unsigned long), words.data());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && (errno != EINVAL || words.size() > 4096))
      return errnoStatus("asking for the CPUs that poprun may use", errno);
    if (bytes < 0) continue;
    std::vector<int> cpus;
    for (std::size_t bit = 0; bit < static_cast<std::size_t>(bytes) * CHAR_BIT; ++bit) {
      if ((words[bit / kWordBits] >> (bit % kWordBits) & 1U) != 0) cpus.push_back(static_cast<int>(bit));
    }
    return CpuSet(std::move(cpus));
  }
}

// Empty: this kernel knows of no memory nodes, which makes it one.
CpuSet onlineNodes() {
  const Result<std::string> text = sys::readFile("/sys/devices/system/node/online");
  if (!text.ok()) return {};
  Result<CpuSet> nodes = CpuSet::parse(text.value().substr(0, text.value().find('\n')));
  return nodes.ok() ? std::move(nodes).value() : CpuSet();
}

// A policy that does not exist: where policies are forbidden, that is said first.
bool mayBindMemory() {
  constexpr int kNoSuchPolicy = 0x7fff;
  return ::syscall(SYS_set_mempolicy, kNoSuchPolicy, nullptr, 0UL) >= 0 || errno == EINVAL;
}

HostTopology asOneNode(CpuSet allowed, int index) {
  const auto pages = static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_PHYS_PAGES)));
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  HostTopology topology{.allowed = allowed};
  topology.nodes.push_back({.index = index, .cpus = std::move(allowed), .memory_bytes = pages * page_bytes});
  return topology;
}

// ---- what hwloc says

class LoadedTopology {
 public:
  using Source = std::function<bool(const Hwloc&, hwloc_topology_t)>;  ///< false: not to be had
  static Result<LoadedTopology> load(TopologyDetail detail, const Source& source);

  HostTopology values(TopologyDetail detail) const;
  bool isThisHost() const { return hwloc_->topology_is_thissystem(topology_.get()) != 0; }

 private:
  LoadedTopology(const Hwloc& hwloc, hwloc_topology_t topology)
      : hwloc_(&hwloc), topology_(topology, hwloc.topology_destroy) {}

  CpuSet setOf(hwloc_const_bitmap_t bitmap) const;
  std::vector<hwloc_obj_t> objectsAt(int depth) const;
  std::vector<model::MemoryNode> nodes(const CpuSet& allowed) const;
  std::vector<model::Core> cores(const CpuSet& allowed) const;

  const Hwloc* hwloc_;
  std::unique_ptr<hwloc_topology, void (*)(hwloc_topology_t)> topology_;
};

// Plug-ins look for devices, which we do not place by, and loading them takes longer than all the rest.
class WithoutPlugins {
 public:
  WithoutPlugins() {
    if (const char* path = std::getenv(kVariable); path != nullptr) before_ = path;
    was_set_ = std::getenv(kVariable) != nullptr;
    ::setenv(kVariable, "/nonexistent", 1);
  }
  ~WithoutPlugins() { was_set_ ? ::setenv(kVariable, before_.c_str(), 1) : ::unsetenv(kVariable); }
  WithoutPlugins(const WithoutPlugins&) = delete;
  WithoutPlugins& operator=(const WithoutPlugins&) = delete;

 private:
  static constexpr const char* kVariable = "HWLOC_PLUGINS_PATH";
  std::string before_;
  bool was_set_ = false;
};

Result<LoadedTopology> LoadedTopology::load(TopologyDetail detail, const Source& source) {
  POP_ASSIGN_OR_RETURN(const Hwloc* const hwloc, hwlocLibrary());
  const Status failed(Code::kInternal, "hwloc cannot make out the topology (see `lstopo`)");
  const WithoutPlugins without_plugins;
  hwloc_topology_t made = nullptr;
  if (hwloc->topology_init(&made) != 0) return failed;
  LoadedTopology topology(*hwloc, made);
  // What is not allowed is wanted too: CPUs whose memory node is forbidden still belong to it.
  unsigned long flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED | HWLOC_TOPOLOGY_FLAG_NO_DISTANCES |
                        HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS;
  if (detail != TopologyDetail::kCores) flags |= HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;
  hwloc->topology_set_flags(made, flags);
  hwloc->topology_set_cache_types_filter(made, HWLOC_TYPE_FILTER_KEEP_NONE);
  // It would visit every CPU to ask it what the kernel has said already.
  hwloc->topology_set_components(made, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
  if (!source(*hwloc, made)) return failed;
  if (hwloc->topology_load(made) != 0) return failed;
  return topology;
}

CpuSet LoadedTopology::setOf(hwloc_const_bitmap_t bitmap) const {
  std::vector<int> members;
  for (int bit = hwloc_->bitmap_next(bitmap, -1); bit != -1; bit = hwloc_->bitmap_next(bitmap, bit))
    members.push_back(bit);
  return CpuSet(std::move(members));
}

std::vector<hwloc_obj_t> LoadedTopology::objectsAt(int depth) const {
  std::vector<hwloc_obj_t> objects(hwloc_->get_nbobjs_by_depth(topology_.get(), depth));
  for (unsigned index = 0; index < objects.size(); ++index)
    objects[index] = hwloc_->get_obj_by_depth(topology_.get(), depth, index);
  return objects;
}

// Where hwloc gives the same CPUs to several nodes, the later ones are memory alone (high-bandwidth memory,
// memory behind CXL, a GPU's): the kernel numbers those last.
std::vector<model::MemoryNode> LoadedTopology::nodes(const CpuSet& allowed) const {
  const std::vector<hwloc_obj_t> objects = objectsAt(HWLOC_TYPE_DEPTH_NUMANODE);
  std::map<unsigned, CpuSet> cpus_of;  // by the system's numbers, and in their order
  for (const hwloc_obj* object : objects) cpus_of[object->os_index] = setOf(object->cpuset) & allowed;
  CpuSet left = allowed;
  for (auto& [index, cpus] : cpus_of) {
    cpus = cpus & left;
    left = left - cpus;
  }
  const hwloc_const_nodeset_t usable = hwloc_->topology_get_allowed_nodeset(topology_.get());
  std::vector<model::MemoryNode> nodes;
  for (const hwloc_obj* object : objects) {
    const bool may_use = hwloc_->bitmap_isset(usable, object->os_index) != 0;
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
  // Some virtual machines show no cores: their CPUs are taken for such.
  const int core_depth = hwloc_->get_type_depth(topology_.get(), HWLOC_OBJ_CORE);
  const int depth = core_depth >= 0 ? core_depth : hwloc_->get_type_depth(topology_.get(), HWLOC_OBJ_PU);
  const bool several_kinds = hwloc_->cpukinds_get_nr(topology_.get(), 0) > 1;
  std::vector<model::Core> cores;
  for (const hwloc_obj* object : objectsAt(depth)) {
    CpuSet cpus = setOf(object->cpuset) & allowed;
    if (cpus.empty()) continue;
    const int kind = several_kinds ? hwloc_->cpukinds_get_by_cpuset(topology_.get(), object->cpuset, 0) : -1;
    cores.push_back({.cpus = std::move(cpus), .package = packageOf(object), .efficiency = kind});
  }
  return cores;
}

HostTopology LoadedTopology::values(TopologyDetail detail) const {
  HostTopology topology{.allowed = setOf(hwloc_->topology_get_allowed_cpuset(topology_.get()))};
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

Result<HostTopology> probeByHwloc(TopologyDetail detail) {
  POP_ASSIGN_OR_RETURN(const LoadedTopology loaded,
                       LoadedTopology::load(detail, [](const Hwloc&, hwloc_topology_t) { return true; }));
  if (!loaded.isThisHost()) {
    return Status(Code::kFailedPrecondition,
                  "hwloc describes another machine than this one (unset HWLOC_XMLFILE, HWLOC_SYNTHETIC, "
                  "HWLOC_FSROOT and HWLOC_CPUID_PATH, or use --process-placement disabled)");
  }
  return loaded.values(detail);
}

Result<HostTopology> probePlaces(TopologyDetail detail) {
  const CpuSet nodes = onlineNodes();
  if (detail == TopologyDetail::kCores || (detail == TopologyDetail::kNodes && nodes.size() > 1))
    return probeByHwloc(detail);
  POP_ASSIGN_OR_RETURN(CpuSet allowed, allowedCpus());
  return asOneNode(std::move(allowed), nodes.empty() ? 0 : nodes.cpus().front());
}

}  // namespace

Result<HostTopology> probeTopology(TopologyDetail detail) {
  POP_ASSIGN_OR_RETURN(HostTopology topology, probePlaces(detail));
  topology.quota_cpus = cgroupCpuQuota();
  topology.memory_binding_allowed = mayBindMemory();
  return topology;
}

Result<HostTopology> topologyFromSynthetic(const std::string& description) {
  return otherMachine(description, [&description](const Hwloc& hwloc, hwloc_topology_t topology) {
    return hwloc.topology_set_synthetic(topology, description.c_str()) == 0;
  });
}

Result<HostTopology> topologyFromXml(const std::string& path) {
  return otherMachine(path, [&path](const Hwloc& hwloc, hwloc_topology_t topology) {
    return hwloc.topology_set_xml(topology, path.c_str()) == 0;
  });
}

}  // namespace pop::agent
