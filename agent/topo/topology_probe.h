// SPDX-License-Identifier: Apache-2.0
// The memory nodes, cores and allowed CPUs of this host, as far as a placement needs them.
#pragma once

#include <string>

#include "common/base/status.h"
#include "common/model/topology.h"

namespace pop::agent {

/// The program that knows hwloc, beside this one or in its libexec.
std::string topologyProgram();

/// This host, as this process may use it (taskset, cgroups). Fast where the detail asks for little or the
/// host has one memory node; else `program` is asked, about 2 ms. kFailedPrecondition says why it cannot
/// answer.
Result<model::HostTopology> probeTopology(model::TopologyDetail detail,
                                          const std::string& program = topologyProgram());

}  // namespace pop::agent
