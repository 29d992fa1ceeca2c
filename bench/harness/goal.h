// SPDX-License-Identifier: Apache-2.0
// A goal: a limit for a figure, and whether it was reached.
#pragma once

#include <string>
#include <vector>

#include "bench/harness/json_line.h"

namespace pop::bench {

struct Goal {
  std::string text;  // "poprun / hydra, true, N = 8"
  double value = 0;
  double limit = 0;
  bool at_least = false;  // reached from the limit upwards; else from the limit downwards
  std::string unit;       // empty for ratios
  bool is_noisy = false;  // most runs of one of the two sides did not begin on a quiet machine
  // Our figure is better than the yardstick, because it does less work than the yardstick assumes: whether
  // the limit is reached says nothing.
  bool beyond_yardstick = false;

  bool reached() const { return at_least ? value >= limit : value <= limit; }
};

JsonLine toJson(const Goal& goal);
/// With its heading; empty without goals.
std::string goalTable(const std::vector<Goal>& goals);

}  // namespace pop::bench
