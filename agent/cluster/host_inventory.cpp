// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/host_inventory.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "agent/topo/topology_probe.h"
#include "common/base/text.h"
#include "common/contract/version.h"
#include "common/sys/fd.h"
#include "common/sys/random_name.h"

namespace pop::agent {
namespace {

// Identifies this start of the service on this start of the host: another one means that all that ran here
// has ended, or that it is a second service, which must not take the first one's name.
Result<std::string> bootId() {
  POP_ASSIGN_OR_RETURN(const std::string text, sys::readFile("/proc/sys/kernel/random/boot_id"));
  return std::string(trimmed(text.substr(0, text.find('\n')))) + '.' + sys::randomName();
}

std::uint64_t memoryBytes() {
  return static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES))) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

Result<popdist::v1::HostJoins> takeInventory(const std::string& name, int slots, int agent_port) {
  POP_ASSIGN_OR_RETURN(const model::HostTopology topology, probeTopology(model::TopologyDetail::kCores));
  POP_ASSIGN_OR_RETURN(const std::string boot_id, bootId());
  popdist::v1::HostJoins joins;
  joins.set_name(validUtf8(name));
  joins.set_protocol(contract::kHostProtocol);
  joins.set_version(contract::kVersion);
  joins.set_boot_id(boot_id);
  joins.set_agent_port(agent_port);
  joins.set_num_cores(static_cast<int>(topology.cores.size()));
  joins.set_num_memory_nodes(static_cast<int>(topology.nodes.size()));
  joins.set_memory_bytes(memoryBytes());
  joins.set_slots(slots > 0 ? slots : joins.num_cores());
  return joins;
}

}  // namespace pop::agent
