// SPDX-License-Identifier: Apache-2.0
// poprun's goals for its launch speed, held against what has been measured. Pure.
#pragma once

#include <vector>

#include "bench/harness/goal.h"
#include "bench/launch_speed/figures.h"

namespace pop::bench {

/// The goals for which there are figures, in the order of the tables.
std::vector<Goal> judge(const Figures& figures);

}  // namespace pop::bench
