// SPDX-License-Identifier: Apache-2.0
// libpopdist's goals for its collectives, held against what has been measured. Pure.
#pragma once

#include <vector>

#include "bench/collectives_speed/figures.h"
#include "bench/harness/goal.h"

namespace pop::bench::collectives {

/// The goals for which there are figures of both sides, in the order of the tables.
std::vector<Goal> judge(const Figures& figures);

}  // namespace pop::bench::collectives
