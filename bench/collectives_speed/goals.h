// SPDX-License-Identifier: Apache-2.0
// Compares libpopdist's goals for its collectives with the measured figures. Pure.
#pragma once

#include <vector>

#include "bench/collectives_speed/figures.h"
#include "bench/harness/goal.h"

namespace pop::bench::collectives {

/// Returns the goals for which both sides have figures, in the order of the tables.
std::vector<Goal> judge(const Figures& figures);

}  // namespace pop::bench::collectives
