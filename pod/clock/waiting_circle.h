// SPDX-License-Identifier: Apache-2.0
// Copies of a round that would wait for each other. A link that hands on nothing until the next one has taken
// it waits for that one; in a circle of such links nothing moves any more (Dally and Seitz, 1987). GCL splits
// exchanges round a torus for this reason.
#pragma once

#include <optional>
#include <vector>

#include "pod/collectives/schedule.h"
#include "pod/system/replica_layout.h"
#include "pod/system/topology.h"

namespace pop::pod {

struct WaitingCircle {
  int round = 0;           ///< of all
  std::vector<int> nodes;  ///< each waits for the way to the next one, the last for that to the first
};

/// The first that a round has; rounds of a class are alike. Without virtual channels: each link carries one
/// queue. Cost: as simulate().
std::optional<WaitingCircle> waitingCircle(const Topology& topology, const ReplicaLayout& layout,
                                           const Schedule& schedule);

}  // namespace pop::pod
