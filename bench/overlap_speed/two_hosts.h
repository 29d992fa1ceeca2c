// SPDX-License-Identifier: Apache-2.0
// Two instances in network namespaces of their own, joined by a link of a given rate.
#pragma once

#include <vector>

#include "bench/overlap_speed/backward.h"
#include "common/base/status.h"

namespace pop::bench {

/// Forks, so call it while this process has one thread. Each direction of the link carries `mbit_per_s`.
/// Needs root. Error: the link cannot be shaped, or an instance fails.
Result<std::vector<BackwardTimes>> measureOverTwoHosts(int mbit_per_s, const BackwardSetting& setting);

}  // namespace pop::bench
