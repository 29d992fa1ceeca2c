// SPDX-License-Identifier: Apache-2.0
// The home of prometheus-cpp: of it, only the text.
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <limits>

#include "popdistd/web/metric_family.h"

namespace pop::popdistd {
namespace {

prometheus::MetricType typeOf(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return prometheus::MetricType::Counter;
    case MetricKind::kHistogram:
      return prometheus::MetricType::Histogram;
    case MetricKind::kGauge:
      break;
  }
  return prometheus::MetricType::Gauge;
}

prometheus::ClientMetric::Histogram histogramOf(const Histogram& histogram) {
  prometheus::ClientMetric::Histogram result;
  result.sample_count = histogram.count();
  result.sample_sum = histogram.sum();
  std::uint64_t so_far = 0;
  for (std::size_t i = 0; i < histogram.counts().size(); ++i) {
    so_far += histogram.counts()[i];
    const bool is_last = i == histogram.bounds().size();
    result.bucket.push_back(
        {so_far, is_last ? std::numeric_limits<double>::infinity() : histogram.bounds()[i]});
  }
  return result;
}

}  // namespace

std::string prometheusText(const std::vector<MetricFamily>& families) {
  std::vector<prometheus::MetricFamily> all;
  for (const MetricFamily& family : families) {
    prometheus::MetricFamily& known =
        all.emplace_back(prometheus::MetricFamily{family.name, family.help, typeOf(family.kind), {}});
    for (const MetricSeries& series : family.series) {
      prometheus::ClientMetric& metric = known.metric.emplace_back();
      for (const auto& [name, value] : series.labels) metric.label.push_back({name, value});
      if (series.histogram != nullptr) metric.histogram = histogramOf(*series.histogram);
      metric.counter.value = series.value;
      metric.gauge.value = series.value;
    }
  }
  return prometheus::TextSerializer().Serialize(all);
}

}  // namespace pop::popdistd
