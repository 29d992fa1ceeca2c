// SPDX-License-Identifier: Apache-2.0
// A benchmark's results: figures, each of one contestant, and goals.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/harness/goal.h"
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

/// A limit for the median of our figure.
struct FigureGoal {
  const char* measure;
  const char* what;  // null: any of the measure
  double limit;
  bool at_least = false;
};

/// The goals of the figures of contestants whose names begin with `ours`, in the order of the figures.
std::vector<Goal> judge(const std::vector<Figure>& figures, const std::string& ours,
                        std::span<const FigureGoal> wanted);

/// Of one contestant in all its figures, empty without any.
std::string figureTable(const std::vector<Figure>& figures);
JsonLine toJson(const Figure& figure);

/// Records the figures that have values, and the goals, and shows them as tables, behind the benchmark's own
/// tables.
void report(const std::string& tables, const std::vector<Figure>& figures, const std::vector<Goal>& goals);

}  // namespace pop::bench
