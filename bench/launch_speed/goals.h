// SPDX-License-Identifier: Apache-2.0
// poprun's goals for its launch speed, held against what has been measured. Pure.
#pragma once

#include <string>
#include <vector>

#include "bench/launch_speed/figures.h"

namespace pop::bench {

struct Goal {
  std::string text;  // "poprun / hydra, true, N = 8"
  double value = 0;
  double limit = 0;
  bool at_least = false;  // reached from the limit upwards; else from the limit downwards
  std::string unit;       // empty for ratios
  bool is_noisy = false;  // most runs of one of the two sides did not begin on a quiet machine

  bool reached() const { return at_least ? value >= limit : value <= limit; }
};

/// The goals for which there are figures, in the order of the tables.
std::vector<Goal> judge(const Figures& figures);

}  // namespace pop::bench
