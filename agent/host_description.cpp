// SPDX-License-Identifier: Apache-2.0
#include "agent/host_description.h"

#include <sys/utsname.h>

#include <chrono>

#include "agent/host_address.h"
#include "agent/topo/topology_probe.h"
#include "common/contract/version.h"
#include "common/rpc/agent_codec.h"

namespace pop::agent {

Result<popdist::v1::HostDescription> describeHost(int running_jobs) {
  popdist::v1::HostDescription description;
  description.set_protocol(contract::kAgentProtocol);
  description.set_version(contract::kVersion);
  utsname names{};
  if (::uname(&names) == 0) {
    description.set_host_name(names.nodename);
    description.set_kernel(std::string(names.sysname) + ' ' + names.release);
  }
  for (const std::string& address : ownAddresses()) description.add_addresses(address);
  POP_ASSIGN_OR_RETURN(const model::HostTopology topology, probeTopology(model::TopologyDetail::kNodes));
  *description.mutable_topology() = rpc::encode(topology);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  description.set_wall_clock_ms(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
  description.set_running_jobs(running_jobs);
  return description;
}

}  // namespace pop::agent
