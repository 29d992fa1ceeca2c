// SPDX-License-Identifier: Apache-2.0
#include "scaling/laws.h"

#include <algorithm>

namespace pop::scaling {
namespace {

struct Line {
  double at_zero = 0;
  double slope = 0;
};
struct DataPoint {
  double x = 0;
  double y = 0;
};

std::optional<Line> leastSquares(const std::vector<DataPoint>& points) {
  double x = 0, y = 0;
  for (const DataPoint& point : points) {
    x += point.x / static_cast<double>(points.size());
    y += point.y / static_cast<double>(points.size());
  }
  double xx = 0, xy = 0;
  for (const DataPoint& point : points) {
    xx += (point.x - x) * (point.x - x);
    xy += (point.x - x) * (point.y - y);
  }
  if (!(xx > 0)) return std::nullopt;
  return Line{y - xy / xx * x, xy / xx};
}

}  // namespace

double throughput(const Constants& constants, double replicas, double micro_batch, double accumulation) {
  return replicas * micro_batch * accumulation /
         (accumulation * constants.micro_batch_s + constants.exchange_s);
}

std::optional<Constants> fitConstants(const std::vector<UpdateTime>& times) {
  std::vector<DataPoint> points;
  for (const UpdateTime& time : times) points.push_back({time.accumulation, time.seconds});
  const std::optional<Line> line = leastSquares(points);
  if (!line || !(line->slope > 0)) return std::nullopt;
  // A rounding error below zero is no contradiction.
  if (line->at_zero < -1e-9 * line->slope) return std::nullopt;
  return Constants{line->slope, std::max(line->at_zero, 0.0)};
}

std::optional<double> fitConstantShare(const std::vector<SampleTime>& times) {
  if (times.empty()) return std::nullopt;
  double fewest = times.front().replicas;
  for (const SampleTime& time : times) fewest = std::min(fewest, time.replicas);
  std::vector<DataPoint> points;
  for (const SampleTime& time : times) points.push_back({fewest / time.replicas, time.seconds});
  const std::optional<Line> line = leastSquares(points);
  if (!line) return std::nullopt;
  const double scales = std::max(line->slope, 0.0);
  const double constant = std::max(line->at_zero, 0.0);
  return scales + constant > 0 ? constant / (scales + constant) : 1;
}

}  // namespace pop::scaling
