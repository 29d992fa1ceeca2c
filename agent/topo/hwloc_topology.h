// SPDX-License-Identifier: Apache-2.0
// hwloc's description of a machine, as values. Only popdist-topology links hwloc: docs/adr/0012.
#pragma once

#include <string>

#include "common/base/status.h"
#include "common/model/topology.h"

namespace pop::agent {

/// This host, as far as this process may use it, down to its cores. Without the quota and whether memory may
/// be bound: the kernel provides those. kFailedPrecondition if hwloc's variables describe another machine.
Result<model::HostTopology> topologyOfThisHost(model::TopologyDetail detail);

/// One of hwloc's synthetic machines: "pack:2 numa:4 core:16 pu:2". All details.
Result<model::HostTopology> topologyFromSynthetic(const std::string& description);

/// A machine exported by hwloc (`lstopo --of xml`). All details.
Result<model::HostTopology> topologyFromXml(const std::string& path);

}  // namespace pop::agent
