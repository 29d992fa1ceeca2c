// SPDX-License-Identifier: Apache-2.0
// What a call takes with each algorithm that can carry it out.
#pragma once

#include <string>
#include <vector>

#include "libpopdist/algorithms/contestants.h"
#include "libpopdist/algorithms/trial.h"

namespace popdist::algorithms {

struct Timing {
  std::string algorithm;
  double microseconds = 0;  ///< median of the slowest rank's
};

struct Row {
  Task task;
  std::vector<Timing> timings;  ///< the first one is what the tables choose; each algorithm once
};

/// Collective over all instances, which all get the same. Contestants take turns, so that what else the
/// machine does hits all of them. Throws popdist_error.
Row measure(Context& context, const Contestants& contestants, const Task& task, int repeats);

}  // namespace popdist::algorithms
