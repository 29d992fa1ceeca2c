// SPDX-License-Identifier: Apache-2.0
// The daemon's metrics by name: docs/reference/metrics.md lists them.
#pragma once

#include <vector>

#include "popdistd/api/measures.h"
#include "popdistd/web/metric_family.h"

namespace pop::popdistd {

/// The limit of hosts, users, allocations or clusters with series of their own: the first by name. Those
/// beyond are counted in popdist_series_left_out.
inline constexpr std::size_t kMostNamedSeries = 1000;
/// A longer name has no series of its own either.
inline constexpr std::size_t kMostNameBytes = 255;

/// All metrics, each with its series, possibly none. `measures` outlives the result.
std::vector<MetricFamily> metricFamilies(const Measures& measures);

/// The process's resources, as Linux tells. On any thread.
ProcessMeasures measureProcess();

}  // namespace pop::popdistd
