// SPDX-License-Identifier: Apache-2.0
// Measured figures, as values.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "bench/collectives_speed/cell.h"
#include "bench/collectives_speed/contestants.h"
#include "bench/collectives_speed/yardsticks.h"
#include "bench/harness/statistics.h"

namespace pop::bench::collectives {

/// One contestant's times in one cell.
struct TimeFigure {
  Cell cell;
  std::string contestant;
  Family family = Family::kOurs;
  Summary us;           // microseconds of one operation, over batches; count 0 when no run ended well
  int runs = 0;         // that ended well
  int hung = 0;         // runs that were ended at their time limit
  int failed = 0;       // runs that ended with an error, a wrong result included
  int not_quiet = 0;    // good runs that began although the machine was busy
  std::string failure;  // the first one, in words

  bool measured() const { return us.count > 0; }
  bool mostlyNotQuiet() const { return not_quiet * 2 > runs; }
};

struct Figures {
  std::vector<TimeFigure> times;
  std::vector<CellLimits> limits;

  /// Null if it was not measured, or if no run succeeded.
  const TimeFigure* time(const Cell& cell, const std::string& contestant) const {
    const auto found = std::find_if(times.begin(), times.end(), [&](const TimeFigure& figure) {
      return figure.cell == cell && figure.contestant == contestant && figure.measured();
    });
    return found == times.end() ? nullptr : &*found;
  }

  /// The figure with the lowest median among those that `accepts` allows; null if there is none.
  template <typename Accepts>
  const TimeFigure* fastest(const Cell& cell, const Accepts& accepts) const {
    const TimeFigure* best = nullptr;
    for (const TimeFigure& figure : times) {
      if (figure.cell != cell || !figure.measured() || !accepts(figure)) continue;
      if (best == nullptr || figure.us.median < best->us.median) best = &figure;
    }
    return best;
  }

  /// The machine's limits at the time of the cell; null if not measured.
  const CellLimits* limitsOf(const Cell& cell) const {
    const auto found =
        std::find_if(limits.begin(), limits.end(), [&](const CellLimits& each) { return each.cell == cell; });
    return found == limits.end() ? nullptr : &*found;
  }
};

}  // namespace pop::bench::collectives
