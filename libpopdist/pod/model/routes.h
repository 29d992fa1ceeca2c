// SPDX-License-Identifier: Apache-2.0
// The way that data takes from one IPU to another: always the same for the same pair, as IPU-Link routing is.
#pragma once

#include <vector>

#include "libpopdist/pod/model/topology.h"

namespace popdist::pod {

/// Ids of links, in the order in which they are crossed.
using Route = std::vector<int>;

/// Inside a Pod: the rung first, then along the rail. To another Pod: through the gateway of the own
/// IPU-Machine, the shorter way round the ring of Pods (upwards when both are equally long), out of the
/// gateway in the same slot to `to_ipu` if it is on that machine, else to the IPU in the same place as
/// `from_ipu` and on inside the Pod. Empty when both are the same IPU.
Route route(const Topology& topology, int from_ipu, int to_ipu);

}  // namespace popdist::pod
