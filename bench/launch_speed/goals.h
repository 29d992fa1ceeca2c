// SPDX-License-Identifier: Apache-2.0
// Compares poprun's goals for its launch speed with the measured figures. Pure.
#pragma once

#include <vector>

#include "bench/harness/goal.h"
#include "bench/launch_speed/figures.h"

namespace pop::bench {

/// Returns the goals for which there are figures, in the order of the tables.
std::vector<Goal> judge(const Figures& figures);

}  // namespace pop::bench
