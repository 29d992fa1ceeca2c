// SPDX-License-Identifier: Apache-2.0
// How the small measuring programs hand over what they have measured: one line of JSON for each series, which
// may stand among anything else in their launcher's output.
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

/// All complete ones in `output`.
std::vector<Series> seriesIn(std::string_view output);

}  // namespace pop::bench::collectives
