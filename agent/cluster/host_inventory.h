// SPDX-License-Identifier: Apache-2.0
// A host's description of itself when it joins a cluster.
#pragma once

#include <string>

#include "common/base/status.h"
#include "proto/popdist/v1/host.pb.h"

namespace pop::agent {

/// `name`: of this host in the cluster. `slots`: how many instances fit; 0: as many as it has usable cores.
/// `agent_port`: where its agent service listens. Looks at the hardware, which takes some milliseconds.
Result<popdist::v1::HostJoins> takeInventory(const std::string& name, int slots, int agent_port);

}  // namespace pop::agent
