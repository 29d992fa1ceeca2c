// SPDX-License-Identifier: Apache-2.0
// A benchmark's results: figures, each of one contestant, and goals: limits for figures, and whether they
// were reached.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/harness/json_line.h"
#include "bench/harness/statistics.h"

namespace pop::bench {

struct Figure {
  std::string measure;  // "submit"
  std::string contestant;
  std::string what;  // "50 clients"
  std::string unit;
  Summary values;  // of rounds, or of single calls
  bool is_noisy = false;
};

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

/// A limit for the median of our figure.
struct FigureGoal {
  const char* measure;  // null: any
  const char* what;     // null: any of the measure
  double limit;
  bool at_least = false;
};

/// The goals of the figures of contestants whose names begin with `ours`, in the order of the figures.
std::vector<Goal> judge(const std::vector<Figure>& figures, const std::string& ours,
                        std::span<const FigureGoal> wanted);

/// With its heading; empty without goals.
std::string goalTable(const std::vector<Goal>& goals);

/// Records the figures that have values, and the goals, and shows them as tables, behind the benchmark's own
/// tables.
void report(const std::string& tables, const std::vector<Figure>& figures, const std::vector<Goal>& goals);

}  // namespace pop::bench
