// SPDX-License-Identifier: Apache-2.0
// A topology as lines of text, as popdist-topology prints it:
//   allowed 0-3
//   node 0 67108864 0-3        its number, bytes of memory, CPUs ("-": none)
//   core 0 -1 0-1              its package, efficiency, CPUs
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"
#include "common/model/topology.h"

namespace pop::agent {

/// "cpus", "nodes", "cores".
std::string topologyDetailName(model::TopologyDetail detail);
Result<model::TopologyDetail> parseTopologyDetail(std::string_view name);

/// Without the quota and whether memory may be bound: the kernel is asked for those when they are needed.
std::string topologyText(const model::HostTopology& topology);

/// Parses the text. kInvalidArgument names the malformed line.
Result<model::HostTopology> parseTopology(std::string_view text);

}  // namespace pop::agent
