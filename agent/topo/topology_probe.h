// SPDX-License-Identifier: Apache-2.0
// The memory nodes, cores and allowed CPUs of this host, as far as a placement needs them; and those of other
// machines, from hwloc's files, for tests.
#pragma once

#include <string>

#include "common/base/status.h"
#include "common/model/topology.h"

namespace pop::agent {

/// This host, as this process may use it (taskset, cgroups). Fast where the detail asks for little or the
/// host has one memory node; else hwloc is loaded.
Result<model::HostTopology> probeTopology(model::TopologyDetail detail);

/// hwloc's synthetic machines: "pack:2 numa:4 core:16 pu:2". All details.
Result<model::HostTopology> topologyFromSynthetic(const std::string& description);

/// A machine that hwloc has exported (`lstopo --of xml`). All details.
Result<model::HostTopology> topologyFromXml(const std::string& path);

}  // namespace pop::agent
