// SPDX-License-Identifier: Apache-2.0
// The output format of the small measuring programs: one line of JSON for each series, which may stand
// between other lines of their launcher's output.
//   {"type": "series", "name": "batches", "values": [8.25, 8.5]}
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pop::bench::collectives {

struct Series {
  std::string name;
  std::vector<double> values;
};

/// Without a line feed.
std::string seriesLine(std::string_view name, std::span<const double> values);

/// Returns all complete series in `output`.
std::vector<Series> seriesIn(std::string_view output);

}  // namespace pop::bench::collectives
