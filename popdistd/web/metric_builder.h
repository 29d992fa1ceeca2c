// SPDX-License-Identifier: Apache-2.0
// Puts metrics together, name after name. Included by this folder only.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "popdistd/api/measures.h"
#include "popdistd/web/metric_family.h"
#include "popdistd/web/metrics.h"

namespace pop::popdistd {

class MetricBuilder {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;

  /// A family without series yet. Valid as long as the builder.
  MetricFamily& gauge(const char* name, const char* help) { return add(MetricKind::kGauge, name, help); }
  MetricFamily& counter(const char* name, const char* help) { return add(MetricKind::kCounter, name, help); }
  MetricFamily& histograms(const char* name, const char* help) {
    return add(MetricKind::kHistogram, name, help);
  }

  template <typename Number>
  static void put(MetricFamily& family, Labels labels, Number value) {
    family.series.push_back({std::move(labels), static_cast<double>(value), nullptr});
  }

  // ---- families with one series

  template <typename Number>
  void oneGauge(const char* name, const char* help, Number value) {
    put(gauge(name, help), {}, value);
  }
  template <typename Number>
  void oneCounter(const char* name, const char* help, Number value) {
    put(counter(name, help), {}, value);
  }
  void oneHistogram(const char* name, const char* help, const Histogram& values) {
    histograms(name, help).series.push_back({{}, 0, &values});
  }

  /// True if the `index`-th of its kind, from 0, has series of its own; else counts it as left out.
  bool isShown(const char* kind, std::size_t index, const std::string& name) {
    if (index < kMostNamedSeries && name.size() <= kMostNameBytes) return true;
    ++left_out_[kind];
    return false;
  }
  int leftOut(const char* kind) { return left_out_[kind]; }

  std::vector<MetricFamily> build() {
    return {std::make_move_iterator(families_.begin()), std::make_move_iterator(families_.end())};
  }

 private:
  MetricFamily& add(MetricKind kind, const char* name, const char* help) {
    return families_.emplace_back(MetricFamily{name, help, kind, {}});
  }

  std::deque<MetricFamily> families_;
  std::map<std::string, int> left_out_;
};

// Each adds the metrics of one part; what is measured outlives the builder's families.
void addJobMetrics(MetricBuilder& to, const CoreMeasures& core);
void addPodMetrics(MetricBuilder& to, const PodMeasures& pods);

}  // namespace pop::popdistd
