// SPDX-License-Identifier: Apache-2.0
// Finds the memory nodes, cores and allowed CPUs of this host, as far as a placement needs them.
#pragma once

#include <string>

#include "common/base/status.h"
#include "common/model/topology.h"

namespace pop::agent {

/// Path of popdist-topology: beside this program or in its libexec directory.
std::string topologyProgram();

/// This host, as far as this process may use it (taskset, cgroups). Fast if `detail` asks for little or the
/// host has one memory node; otherwise it runs `program`, which takes about 2 ms. Where that
/// fails, kFailedPrecondition says why for cores, and HostTopology::nodes_problem for nodes.
Result<model::HostTopology> probeTopology(model::TopologyDetail detail,
                                          const std::string& program = topologyProgram());

}  // namespace pop::agent
