// SPDX-License-Identifier: Apache-2.0
// The way that data takes from one IPU to another: always the same for the same pair, as IPU-Link routing is.
#pragma once

#include <vector>

#include "pod/system/topology.h"

namespace pop::pod {

/// Ids of links, in the order in which they are crossed.
using Route = std::vector<int>;

/// The IPU-Link that joins two IPUs and carries what ends there; -1 if there is none.
int directLink(const Topology& topology, int from_ipu, int to_ipu);

/// Inside an ILD of rows: the rung first, then along the rail, on a torus the shorter way round (upwards when
/// both are equally long). To another ILD: through the own gateway, over its switch or the shorter way round
/// the ring of ILDs, out of the gateway in the same slot to `to_ipu` if that is one of its IPUs, else to the
/// IPU in the same place as `from_ipu` and on inside the ILD. In a barley twist, a wiring of its own, or
/// where a link of this way is removed: the fewest links, IPU-Links alone if they reach it; of equals the
/// first found. Empty when both are the same IPU. The topology must be connected.
Route route(const Topology& topology, int from_ipu, int to_ipu);

}  // namespace pop::pod
