// SPDX-License-Identifier: Apache-2.0
// The results of one contestant's turns in one cell. Turns on distant cores count only if there are no
// others.
#pragma once

#include <utility>
#include <vector>

#include "bench/collectives_speed/figures.h"
#include "bench/harness/statistics.h"

namespace pop::bench::collectives {

struct Turns {
  const Contestant* contestant = nullptr;
  TimeFigure figure{};
  std::vector<double> near{}, far{};  ///< microseconds
  int near_turns = 0, far_turns = 0, not_quiet = 0;

  int bad() const { return figure.hung + figure.failed; }

  void count(const std::vector<double>& values, bool is_near, bool is_quiet) {
    std::vector<double>& sample = is_near ? near : far;
    sample.insert(sample.end(), values.begin(), values.end());
    ++(is_near ? near_turns : far_turns);
    if (is_near && !is_quiet) ++not_quiet;
  }

  /// The reference distance has changed: by the new one, none of the turns was near.
  void nearWasFar() {
    far.insert(far.end(), near.begin(), near.end());
    far_turns += std::exchange(near_turns, 0);
    near.clear();
    not_quiet = 0;
  }

  TimeFigure result() const {
    TimeFigure result = figure;
    const bool has_near = near_turns > 0;
    result.us = summarize(has_near ? near : far);
    result.runs = has_near ? near_turns : far_turns;
    result.not_quiet = has_near ? not_quiet : far_turns;
    return result;
  }
};

}  // namespace pop::bench::collectives
