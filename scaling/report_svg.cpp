// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "common/base/svg_text.h"
#include "scaling/figures.h"
#include "scaling/report.h"

namespace pop::scaling {
namespace {

namespace svg = svg_text;
using svg::Tenths;

constexpr Tenths kWidth = 7200, kHeight = 4400, kLeft = 840, kRight = 300, kTop = 700, kBottom = 900;

constexpr const char* kHead =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"440\" viewBox=\"0 0 720 440\">\n"
    "<style>text{font-family:Helvetica,Arial,sans-serif;font-size:12px;fill:#263238}"
    ".title{font-size:15px;font-weight:bold}.small{font-size:11px;fill:#546e7a}.mid{text-anchor:middle}"
    ".end{text-anchor:end}.back{fill:#fff}.grid{stroke:#e3e8ec}.axis{stroke:#546e7a}"
    ".measured{fill:none;stroke:#3b7dd8;stroke-width:2.5}.theoretical{fill:none;stroke:#2e9e6b;stroke-width:"
    "2;"
    "stroke-dasharray:7 4}.linear{fill:none;stroke:#90a4ae;stroke-width:1.5;stroke-dasharray:2 4}"
    ".dot{fill:#3b7dd8}</style>\n";

/// 1, 2 or 5 times a power of ten, so that there are some five lines up to `most`.
double gridStep(double most) {
  const double power = std::pow(10, std::floor(std::log10(most / 5)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (most / (factor * power) <= 6) return factor * power;
  }
  return 10 * power;
}

class Chart {
 public:
  explicit Chart(const std::vector<Point>& points) : points_(points) {
    for (const Point& point : points)
      most_ = std::max({most_, point.measured.samplesPerSecond(), point.theoretical, point.linear});
    step_ = gridStep(most_);
    most_ = std::ceil(most_ / step_) * step_;
  }

  std::string text() const {
    return kHead + svg::rectangle({0, 0}, kWidth, kHeight, "back") +
           svg::words({kLeft, 300}, "title", "Throughput, samples/s") + grid() + replicas() +
           curve("linear", [](const Point& point) { return point.linear; }) +
           curve("theoretical", [](const Point& point) { return point.theoretical; }) +
           curve("measured", [](const Point& point) { return point.measured.samplesPerSecond(); }) + dots() +
           legend() + "</svg>\n";
  }

 private:
  // Twice the replicas are always as far away; one number of them is in the middle.
  Tenths x(const Point& point) const {
    const auto power = [](const Point& each) {
      return std::log2(static_cast<double>(each.measured.replicas));
    };
    const double first = power(points_.front());
    const double width = power(points_.back()) - first;
    const double part = width > 0 ? (power(point) - first) / width : 0.5;
    return kLeft + 200 + std::llround(part * static_cast<double>(kWidth - kLeft - kRight - 400));
  }
  Tenths y(double speed) const {
    return kHeight - kBottom - std::llround(speed / most_ * static_cast<double>(kHeight - kTop - kBottom));
  }

  std::string grid() const {
    std::string text;
    const auto lines = std::llround(most_ / step_);
    for (std::int64_t i = 0; i <= lines; ++i) {
      const double speed = static_cast<double>(i) * step_;
      text += svg::line({kLeft, y(speed)}, {kWidth - kRight, y(speed)}, i == 0 ? "axis" : "grid");
      text += svg::words({kLeft - 80, y(speed) + 40}, "small end", figure(speed));
    }
    return text;
  }

  std::string replicas() const {
    std::string text;
    for (const Point& point : points_) {
      text += svg::line({x(point), kHeight - kBottom}, {x(point), kHeight - kBottom + 60}, "axis");
      text += svg::words({x(point), kHeight - kBottom + 220}, "mid", std::to_string(point.measured.replicas));
    }
    return text +
           svg::words({(kLeft + kWidth - kRight) / 2, kHeight - kBottom + 420}, "small mid", "replicas");
  }

  template <typename Speed>
  std::string curve(const char* style, const Speed& speed) const {
    std::string places;
    for (const Point& point : points_)
      places += (places.empty() ? "" : " ") + svg::px(x(point)) + "," + svg::px(y(speed(point)));
    return "<polyline" + svg::attribute("class", style) + svg::attribute("points", places) + "/>\n";
  }

  std::string dots() const {
    std::string text;
    for (const Point& point : points_) {
      const double speed = point.measured.samplesPerSecond();
      text += "<circle class=\"dot\" r=\"4\"" + svg::attribute("cx", svg::px(x(point))) +
              svg::attribute("cy", svg::px(y(speed))) + "/>\n";
      text += svg::words({x(point), y(speed) + 210}, "small mid", figure(speed));
    }
    return text;
  }

  std::string legend() const {
    std::string text;
    Tenths left = kLeft;
    for (const char* name : {"measured", "theoretical", "linear"}) {
      text += svg::line({left, kHeight - 220}, {left + 400, kHeight - 220}, name);
      text += svg::words({left + 480, kHeight - 180}, "", name);
      left += 1500;
    }
    return text;
  }

  const std::vector<Point>& points_;
  double most_ = 0;
  double step_ = 1;
};

}  // namespace

std::string reportSvg(const Analysis& analysis) {
  if (!analysis.points.empty()) return Chart(analysis.points).text();
  return std::string(kHead) + svg::rectangle({0, 0}, kWidth, kHeight, "back") +
         svg::words({kLeft, 300}, "title", "No run has updates") + "</svg>\n";
}

}  // namespace pop::scaling
