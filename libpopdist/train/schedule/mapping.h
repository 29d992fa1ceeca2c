// SPDX-License-Identifier: Apache-2.0
// The IPU of a replica for each stage, such that what stages hand on has short ways.
#pragma once

#include <vector>

#include "popdist/schedule.hpp"

namespace popdist::train {

/// IPU-Links from one IPU of a replica to another: its IPUs are the first of a Pod's ladder. At most 64 IPUs.
int hopsBetween(int from_ipu, int to_ipu);

/// The sum of hops over all pairs of stages of which one hands tensors to the other.
int hopsOf(const DeviceMapping& mapping);

/// One IPU for each stage, and as few hops as can be: always for a chain, and for stages side by side as long
/// as there are at most 8 stages. Beyond that, the stages lie along a chain. Among equal ones it takes
/// low numbers.
DeviceMapping shortestMapping(const std::vector<int>& levels);

}  // namespace popdist::train
