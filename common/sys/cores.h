// SPDX-License-Identifier: Apache-2.0
// The cores that threads run on, by the system's numbers.
#pragma once

#include <vector>

#include "common/base/status.h"

namespace pop::sys {

/// The core that the calling thread runs on; -1: unknown.
int currentCore();

/// The cores that the calling thread may use (after taskset and the cpuset cgroup), in order; however many.
Result<std::vector<int>> usableCores();

/// The number of cores among them: hardware threads of one core count once. At least 1.
int countCores();

/// Moves the calling thread to one of `cores` that it may use, if there is one. Its set of allowed cores
/// stays the same, so the system may move it again.
void moveTo(const std::vector<int>& cores);

}  // namespace pop::sys
