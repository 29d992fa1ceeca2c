// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/statistics.h"

#include <algorithm>

#include "common/base/check.h"

namespace pop::bench {

double quantile(std::vector<double> sample, double p) {
  POP_CHECK(!sample.empty() && p >= 0 && p <= 1);
  std::sort(sample.begin(), sample.end());
  const double position = p * static_cast<double>(sample.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sample.size() - 1);
  return sample[below] + (position - static_cast<double>(below)) * (sample[above] - sample[below]);
}

std::vector<double> ratiosOf(const std::vector<double>& above, const std::vector<double>& below) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(above.size(), below.size()); ++i)
    if (below[i] > 0) ratios.push_back(above[i] / below[i]);
  return ratios;
}

Summary summarize(const std::vector<double>& sample) {
  if (sample.empty()) return {};
  return {.count = sample.size(),
          .median = quantile(sample, 0.5),
          .min = quantile(sample, 0),
          .max = quantile(sample, 1),
          .lower_quartile = quantile(sample, 0.25),
          .upper_quartile = quantile(sample, 0.75)};
}

}  // namespace pop::bench
