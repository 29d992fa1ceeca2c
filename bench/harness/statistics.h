// SPDX-License-Identifier: Apache-2.0
// Statistics of a sample of measured values.
#pragma once

#include <cstddef>
#include <vector>

namespace pop::bench {

/// The p-quantile, 0 <= p <= 1, of a non-empty sample: linear between the two nearest values in order, at
/// position p * (n - 1).
double quantile(std::vector<double> sample, double p);

/// above[i] / below[i], leaving out those where below[i] is not positive.
std::vector<double> ratiosOf(const std::vector<double>& above, const std::vector<double>& below);

struct Summary {
  std::size_t count = 0;
  double median = 0;
  double min = 0;
  double max = 0;
  double lower_quartile = 0;
  double upper_quartile = 0;
};

/// All zero for an empty sample.
Summary summarize(const std::vector<double>& sample);

}  // namespace pop::bench
