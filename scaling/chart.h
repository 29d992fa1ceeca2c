// SPDX-License-Identifier: Apache-2.0
// A picture of throughput against replicas.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pop::scaling {

struct ChartPoint {
  std::int64_t replicas = 1;
  double samples_per_s = 0;
};

/// The look of a curve.
struct CurveLook {
  std::string_view style;  ///< a class of the picture: measured, theoretical, linear, again
  bool is_line = true;
  bool has_dots = false;
  bool has_figures = false;  ///< at its dots
};
inline constexpr CurveLook kMeasuredRuns{"measured", true, true, true};
inline constexpr CurveLook kTheoretical{"theoretical"};
inline constexpr CurveLook kLinear{"linear"};

struct Curve {
  std::string name;  ///< in the legend
  CurveLook look;
  std::vector<ChartPoint> points;  ///< ascending replicas
};

/// An SVG, the same bytes on every machine. Later curves are drawn over earlier ones; at least one has
/// points.
std::string throughputChart(const std::vector<Curve>& curves);

/// The same picture with words instead of curves.
std::string emptyChart(const std::string& words);

}  // namespace pop::scaling
