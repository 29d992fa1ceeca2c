// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_hosts/figures.h"

namespace pop::bench {

std::optional<ControllerCost> controllerCost(const std::vector<TimeFigure>& costs) {
  double count = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (const TimeFigure& figure : costs) {
    if (figure.wall_ms.count == 0) continue;
    const double x = figure.processes;
    const double y = figure.cpu_ms.median;
    ++count;
    sum_x += x;
    sum_y += y;
    sum_xx += x * x;
    sum_xy += x * y;
  }
  const double spread = count * sum_xx - sum_x * sum_x;
  if (spread <= 0) return std::nullopt;
  const double slope = (count * sum_xy - sum_x * sum_y) / spread;
  return ControllerCost{.fixed_ms = (sum_y - slope * sum_x) / count, .per_host_ms = slope};
}

}  // namespace pop::bench
