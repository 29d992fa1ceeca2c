// SPDX-License-Identifier: Apache-2.0
#include "poprun/session/local_bindings.h"

#include <algorithm>

#include "agent/topo/topology_probe.h"
#include "common/model/host_list.h"

namespace pop {

Result<HostBindings> localBindings(const model::JobSpec& spec, const std::string& own_host_name) {
  HostBindings bindings(spec.hosts.size());
  const std::vector<model::InstancePlacement> placement = model::place(spec);
  for (std::size_t host = 0; host < spec.hosts.size(); ++host) {
    const auto instances = std::count_if(
        placement.begin(), placement.end(),
        [host](const model::InstancePlacement& each) { return each.host == static_cast<int>(host); });
    if (instances == 0 || !model::isThisHost(spec.hosts[host].name, own_host_name)) continue;
    POP_ASSIGN_OR_RETURN(const model::HostTopology topology,
                         agent::probeTopology(model::detailFor(spec.binding, static_cast<int>(instances))));
    POP_ASSIGN_OR_RETURN(bindings[host], model::bind(topology, spec.binding, static_cast<int>(instances)));
  }
  return bindings;
}

}  // namespace pop
