// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/variables/aggregate.h"

#include <cmath>
#include <cstddef>

namespace popdist::train {
namespace {

double with(Aggregation aggregation, double so_far, double first, double value) {
  switch (aggregation) {
    case Aggregation::kSum:
      return so_far + value;
    case Aggregation::kMean:
      return so_far + (value - first);
    case Aggregation::kMax:
      return value > so_far || std::isnan(value) ? value : so_far;
    case Aggregation::kMin:
      return value < so_far || std::isnan(value) ? value : so_far;
    case Aggregation::kFirstReplica:
      break;
  }
  return so_far;
}

/// Infinities differ from others by no number.
double plainMean(std::span<const double> all, std::size_t element, std::size_t elements) {
  double sum = 0;
  for (std::size_t at = element; at < all.size(); at += elements) sum += all[at];
  return sum / static_cast<double>(all.size() / elements);
}

}  // namespace

void aggregate(Aggregation aggregation, std::span<const double> all, std::span<double> result) {
  const std::size_t replicas = all.size() / result.size();
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double first = all[i];
    const bool is_mean = aggregation == Aggregation::kMean;
    double so_far = is_mean ? 0 : first;  // for a mean: sum of the others' differences from the first one
    for (std::size_t replica = 1; replica < replicas; ++replica)
      so_far = with(aggregation, so_far, first, all[replica * result.size() + i]);
    result[i] = is_mean ? first + so_far / static_cast<double>(replicas) : so_far;
    if (is_mean && !std::isfinite(result[i])) result[i] = plainMean(all, i, result.size());
  }
}

}  // namespace popdist::train
