// SPDX-License-Identifier: Apache-2.0
#include "scaling/chart.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "common/base/svg_text.h"
#include "scaling/figures.h"

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
    ".again{fill:none;stroke:#2e9e6b;stroke-width:2}"
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
  explicit Chart(const std::vector<Curve>& curves) : curves_(curves) {
    for (const Curve& curve : curves) {
      for (const ChartPoint& point : curve.points) {
        replicas_.insert(point.replicas);
        most_ = std::max(most_, point.samples_per_s);
      }
    }
    step_ = gridStep(most_);
    most_ = std::ceil(most_ / step_) * step_;
  }

  std::string text() const {
    std::string text = kHead + svg::rectangle({0, 0}, kWidth, kHeight, "back") +
                       svg::words({kLeft, 300}, "title", "Throughput, samples/s") + grid() + replicas();
    for (const Curve& curve : curves_) {
      if (curve.look.is_line) text += line(curve);
    }
    for (const Curve& curve : curves_) {
      if (curve.look.has_dots) text += dots(curve);
    }
    return text + legend() + "</svg>\n";
  }

 private:
  // Twice the replicas are always as far away; one number of them is in the middle.
  Tenths x(std::int64_t replicas) const {
    const auto power = [](std::int64_t each) { return std::log2(static_cast<double>(each)); };
    const double first = power(*replicas_.begin());
    const double width = power(*replicas_.rbegin()) - first;
    const double part = width > 0 ? (power(replicas) - first) / width : 0.5;
    return kLeft + 200 + std::llround(part * static_cast<double>(kWidth - kLeft - kRight - 400));
  }
  Tenths y(double speed) const {
    return kHeight - kBottom - std::llround(speed / most_ * static_cast<double>(kHeight - kTop - kBottom));
  }
  svg::Point place(const ChartPoint& point) const { return {x(point.replicas), y(point.samples_per_s)}; }

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
    for (const std::int64_t each : replicas_) {
      text += svg::line({x(each), kHeight - kBottom}, {x(each), kHeight - kBottom + 60}, "axis");
      text += svg::words({x(each), kHeight - kBottom + 220}, "mid", std::to_string(each));
    }
    return text +
           svg::words({(kLeft + kWidth - kRight) / 2, kHeight - kBottom + 420}, "small mid", "replicas");
  }

  std::string line(const Curve& curve) const {
    std::string places;
    for (const ChartPoint& point : curve.points) {
      const svg::Point at = place(point);
      places += (places.empty() ? "" : " ") + svg::px(at.x) + "," + svg::px(at.y);
    }
    return "<polyline" + svg::attribute("class", std::string(curve.look.style)) +
           svg::attribute("points", places) + "/>\n";
  }

  static std::string dot(const Curve& curve, svg::Point at) {
    const bool is_measured = curve.look.style == kMeasuredRuns.style;
    return std::string("<circle class=\"") + (is_measured ? "dot" : "again") +
           (is_measured ? "\" r=\"4\"" : "\" r=\"7\"") + svg::attribute("cx", svg::px(at.x)) +
           svg::attribute("cy", svg::px(at.y)) + "/>\n";
  }

  // Below its dot, and above where the axis is near.
  static Tenths figureAt(Tenths dot) {
    const bool is_near_axis = dot + 240 > kHeight - kBottom;
    return is_near_axis ? dot - 120 : dot + 210;
  }

  std::string dots(const Curve& curve) const {
    std::string text;
    for (const ChartPoint& point : curve.points) {
      const svg::Point at = place(point);
      text += dot(curve, at);
      if (curve.look.has_figures)
        text += svg::words({at.x, figureAt(at.y)}, "small mid", figure(point.samples_per_s));
    }
    return text;
  }

  std::string legend() const {
    std::string text;
    Tenths left = kLeft;
    for (auto curve = curves_.rbegin(); curve != curves_.rend(); ++curve) {
      text += curve->look.is_line ? svg::line({left, kHeight - 220}, {left + 400, kHeight - 220},
                                              std::string(curve->look.style))
                                  : dot(*curve, {left + 200, kHeight - 220});
      text += svg::words({left + 480, kHeight - 180}, "", curve->name);
      left += 700 + std::max<Tenths>(800, 65 * static_cast<Tenths>(curve->name.size()));
    }
    return text;
  }

  const std::vector<Curve>& curves_;
  std::set<std::int64_t> replicas_;
  double most_ = 0;
  double step_ = 1;
};

}  // namespace

std::string throughputChart(const std::vector<Curve>& curves) {
  return Chart(curves).text();
}

std::string emptyChart(const std::string& words) {
  return std::string(kHead) + svg::rectangle({0, 0}, kWidth, kHeight, "back") +
         svg::words({kLeft, 300}, "title", words) + "</svg>\n";
}

}  // namespace pop::scaling
