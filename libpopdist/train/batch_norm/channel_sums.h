// SPDX-License-Identifier: Apache-2.0
// The arithmetic of batch norm on one replica's samples. Channels lie innermost. Pure.
#pragma once

#include <cstddef>
#include <span>

#include "popdist/batch_norm.hpp"

namespace popdist::train {

/// Samples that a replica's layer sees, which weigh differently.
struct WeighedSamples {
  std::span<const float> input;
  std::span<const float> weights;  ///< empty: all 1
  std::size_t channels;
};

/// sums = for each channel the sum of w x, then of w x^2; then, once, that of w over all positions.
void addMoments(const WeighedSamples& samples, std::span<double> sums);

/// From the moments of a group. Without weight: 0, so that x_hat is 0 everywhere.
void statisticsOf(std::span<const double> moments, float epsilon, BatchNormSaved& saved);

void normalise(const BatchNormForward& of, std::span<const float> mean,
               std::span<const float> inverse_deviation);

/// sums = for each channel the sum of d_output, then of d_output * x_hat.
void addGradientSums(const BatchNormBackward& of, std::span<double> sums);

/// d_input from the sums of the group.
void inputGradient(const BatchNormBackward& of, std::span<const double> sums);

}  // namespace popdist::train
