// SPDX-License-Identifier: Apache-2.0
// Gradients beside differences of what they are gradients of.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

/// The sum of values · weights: a number that depends on all values in different ways.
inline double weighted(std::span<const float> values, std::span<const float> weights) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += static_cast<double>(values[i]) * weights[i];
  return sum;
}

/// Moves some of `x`, and compares what `valueOf` says then with `gradient`.
inline void expectGradient(std::span<float> x, std::span<const float> gradient,
                           const std::function<double()>& valueOf, const std::string& what,
                           float step = 1e-2F) {
  ASSERT_EQ(x.size(), gradient.size());
  for (std::size_t i = 0; i < x.size(); i += 1 + x.size() / 60) {
    const float before = x[i];
    x[i] = before + step;
    const double above = valueOf();
    x[i] = before - step;
    const double below = valueOf();
    x[i] = before;
    const double difference = (above - below) / (2 * static_cast<double>(step));
    EXPECT_NEAR(gradient[i], difference, 4e-3 * std::max(1.0, std::abs(difference))) << what << ' ' << i;
  }
}
