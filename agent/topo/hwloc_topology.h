// SPDX-License-Identifier: Apache-2.0
// What hwloc knows of a machine, as values. Only popdist-topology links it: docs/adr/0012.
#pragma once

#include <string>

#include "common/base/status.h"
#include "common/model/topology.h"

namespace pop::agent {

/// This host, as this process may use it, down to its cores. The quota and whether memory may be bound are
/// left out: they are the kernel's to say. kFailedPrecondition when hwloc's variables describe another
/// machine.
Result<model::HostTopology> topologyOfThisHost(model::TopologyDetail detail);

/// hwloc's synthetic machines: "pack:2 numa:4 core:16 pu:2". All details.
Result<model::HostTopology> topologyFromSynthetic(const std::string& description);

/// A machine that hwloc has exported (`lstopo --of xml`). All details.
Result<model::HostTopology> topologyFromXml(const std::string& path);

}  // namespace pop::agent
