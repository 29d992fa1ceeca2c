// SPDX-License-Identifier: Apache-2.0
#include "agent/topo/topology_probe.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "agent/topo/allowed_cpus.h"
#include "agent/topo/cgroup_quota.h"
#include "agent/topo/topology_text.h"
#include "common/os/helper_run.h"
#include "common/sys/fd.h"
#include "common/sys/own_program.h"

namespace pop::agent {
namespace {

using model::CpuSet;
using model::HostTopology;
using model::TopologyDetail;

// The agent is blocked meanwhile. This timeout is shorter than those after which poprun gives the agent up
// (--host-silence, --connect-timeout), so that the agent can report the cause.
constexpr std::chrono::milliseconds kTimeout{4000};

// ---- from the kernel, without hwloc

// Empty: this kernel does not support memory nodes, so there is one.
CpuSet onlineNodes() {
  const Result<std::string> text = sys::readFile("/sys/devices/system/node/online");
  if (!text.ok()) return {};
  Result<CpuSet> nodes = CpuSet::parse(text.value().substr(0, text.value().find('\n')));
  return nodes.ok() ? std::move(nodes).value() : CpuSet();
}

// An invalid policy: where policies are forbidden, the kernel reports that first.
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

// ---- from hwloc, in a process of its own

Result<HostTopology> askHwloc(TopologyDetail detail, const std::string& program) {
  const auto failed = [](const std::string& why) {
    return Status(Code::kFailedPrecondition, "cannot determine the memory nodes and cores: " + why +
                                                 ", or use --process-placement disabled");
  };
  if (::access(program.c_str(), F_OK) != 0) {
    return failed(program +
                  " is not there: install poprun on this host and name it (--agent-path "
                  "PREFIX/bin/popdist-agent)");
  }
  const Result<std::string> text = os::outputOf({program, topologyDetailName(detail)}, kTimeout);
  if (!text.ok()) return failed(text.status().message());
  Result<HostTopology> topology = parseTopology(text.value());
  return topology.ok() ? std::move(topology) : failed(program + " said: " + topology.status().message());
}

Result<HostTopology> probePlaces(TopologyDetail detail, const std::string& program) {
  const CpuSet nodes = onlineNodes();
  Result<HostTopology> asked = failedPrecondition("");
  const bool asks =
      detail == TopologyDetail::kCores || (detail == TopologyDetail::kNodes && nodes.size() > 1);
  if (asks) asked = askHwloc(detail, program);
  if (asked.ok() || detail == TopologyDetail::kCores) return asked;
  POP_ASSIGN_OR_RETURN(CpuSet allowed, allowedCpus());
  HostTopology one = asOneNode(std::move(allowed), nodes.empty() ? 0 : nodes.cpus().front());
  if (asks) one.nodes_problem = asked.status().message();
  return one;
}

}  // namespace

std::string topologyProgram() {
  return sys::ownProgram("popdist-topology");
}

Result<HostTopology> probeTopology(TopologyDetail detail, const std::string& program) {
  POP_ASSIGN_OR_RETURN(HostTopology topology, probePlaces(detail, program));
  topology.quota_cpus = cgroupCpuQuota();
  topology.memory_binding_allowed = mayBindMemory();
  return topology;
}

}  // namespace pop::agent
