// SPDX-License-Identifier: Apache-2.0
#include "pod/predict/least_squares.h"

#include <cmath>
#include <cstddef>
#include <numeric>

namespace pop::pod::predict {
namespace {

// A column is a sum of others if less than this share of it is left without them.
constexpr double kDependent = 1e-9;

double product(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void subtract(std::vector<double>& from, double times, const std::vector<double>& column) {
  for (std::size_t i = 0; i < from.size(); ++i) from[i] -= times * column[i];
}

}  // namespace

std::optional<std::vector<double>> leastSquares(std::vector<std::vector<double>> columns,
                                                std::vector<double> right) {
  const std::size_t n = columns.size();
  std::vector<std::vector<double>> upper(n, std::vector<double>(n, 0));
  std::vector<double> x(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const double whole = std::sqrt(product(columns[i], columns[i]));
    for (std::size_t j = 0; j < i; ++j) {
      upper[j][i] = product(columns[j], columns[i]);
      subtract(columns[i], upper[j][i], columns[j]);
    }
    upper[i][i] = std::sqrt(product(columns[i], columns[i]));
    if (!(upper[i][i] > kDependent * whole)) return std::nullopt;
    for (double& each : columns[i]) each /= upper[i][i];
    x[i] = product(columns[i], right);
    subtract(right, x[i], columns[i]);
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) x[i] -= upper[i][j] * x[j];
    x[i] /= upper[i][i];
  }
  return x;
}

}  // namespace pop::pod::predict
