// SPDX-License-Identifier: Apache-2.0
#include "scaling/chart.h"
#include "scaling/report.h"

namespace pop::scaling {

std::string reportSvg(const Analysis& analysis) {
  if (analysis.points.empty()) return emptyChart("No run has updates");
  Curve linear{"linear", kLinear, {}};
  Curve theoretical{"theoretical", kTheoretical, {}};
  Curve measured{"measured", kMeasuredRuns, {}};
  for (const Point& point : analysis.points) {
    const std::int64_t replicas = point.measured.replicas;
    linear.points.push_back({replicas, point.linear});
    theoretical.points.push_back({replicas, point.theoretical});
    measured.points.push_back({replicas, point.measured.samplesPerSecond()});
  }
  return throughputChart({linear, theoretical, measured});
}

}  // namespace pop::scaling
