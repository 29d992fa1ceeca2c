// SPDX-License-Identifier: Apache-2.0
// Metrics as Prometheus knows them, and their text.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "popdistd/api/histogram.h"

namespace pop::popdistd {

enum class MetricKind : std::uint8_t { kCounter, kGauge, kHistogram };

struct MetricSeries {
  std::vector<std::pair<std::string, std::string>> labels;  ///< values may be any text
  double value = 0;
  const Histogram* histogram = nullptr;  ///< in place of the value; outlives the text's making
};

struct MetricFamily {
  std::string name;
  std::string help;  ///< one line
  MetricKind kind = MetricKind::kGauge;
  std::vector<MetricSeries> series;
};

/// In Prometheus' text format, version 0.0.4.
std::string prometheusText(const std::vector<MetricFamily>& families);

}  // namespace pop::popdistd
