// SPDX-License-Identifier: Apache-2.0
// Measures a call with each algorithm that supports it.
#pragma once

#include <string>
#include <vector>

#include "libpopdist/tools/algorithms/contestants.h"
#include "libpopdist/tools/algorithms/trial.h"

namespace popdist::algorithms {

struct Timing {
  std::string algorithm;
  double microseconds = 0;  ///< median of the slowest rank's
};

struct Row {
  Task task;
  std::vector<Timing> timings;  ///< the first one is what the tables choose; each algorithm once
};

/// Collective over all instances; all get the same result. The contestants take turns, so that other load on
/// the machine hits all of them. Throws popdist_error.
Row measure(Context& context, const Contestants& contestants, const Task& task, int repeats);

}  // namespace popdist::algorithms
