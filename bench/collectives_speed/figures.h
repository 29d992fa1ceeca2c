// SPDX-License-Identifier: Apache-2.0
// Measured figures, as values; their goals and their tables.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "bench/collectives_speed/cell.h"
#include "bench/collectives_speed/contestants.h"
#include "bench/collectives_speed/yardsticks.h"
#include "bench/harness/results.h"
#include "bench/harness/statistics.h"
#include "bench/harness/turn.h"

namespace pop::bench::collectives {

/// One contestant's times in one cell.
struct TimeFigure {
  Cell cell;
  std::string contestant;
  Family family = Family::kOurs;
  Summary us;    // microseconds of one operation, over batches; count 0 when no run ended well
  Tally runs{};  // a wrong result is a failure

  bool measured() const { return us.count > 0; }
  bool mostlyNotQuiet() const { return runs.mostlyNotQuiet(); }
};

/// The results of one contestant's turns in one cell. Turns on distant cores count only if there are no
/// others.
struct Turns {
  const Contestant* contestant = nullptr;
  TimeFigure figure{};
  std::vector<double> near{}, far{};  ///< microseconds
  int near_turns = 0, far_turns = 0, not_quiet = 0;

  int bad() const { return figure.runs.hung + figure.runs.failed; }

  void count(const std::vector<double>& values, bool is_near, bool is_quiet);
  /// The reference distance has changed: by the new one, none of the turns was near.
  void nearWasFar();
  TimeFigure result() const;
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

/// The goals for which both sides have figures, in the order of the tables.
std::vector<Goal> judge(const Figures& figures);

/// Records everything, and shows it to people.
void report(const Figures& figures);

}  // namespace pop::bench::collectives
