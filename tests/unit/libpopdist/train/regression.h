// SPDX-License-Identifier: Apache-2.0
// A model small enough to be followed by hand: y = x · w + b, with half the squared error as its loss.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "popdist/dataset.hpp"
#include "popdist/infeed.hpp"
#include "popdist/trainer.hpp"

namespace popdist::train::regression {

inline constexpr std::size_t kInputs = 3;
inline constexpr std::size_t kSamples = 96;

inline Parameters parameters() {
  Parameters parameters;
  parameters.add("w", {kInputs}, normal(0, 1));
  parameters.add("b", {1}, constant(0.25));
  return parameters;
}

inline io::Dataset samples() {
  Tensor x({"x", Type::kFloat, {kSamples, kInputs}});
  Tensor y({"y", Type::kFloat, {kSamples}});
  for (std::size_t i = 0; i < kSamples; ++i) {
    float sum = 0.5F;
    for (std::size_t j = 0; j < kInputs; ++j) {
      const auto value = static_cast<float>(std::sin(static_cast<double>(7 * i + 3 * j)));
      x.as<float>()[i * kInputs + j] = value;
      sum += value * static_cast<float>(j + 1);
    }
    y.as<float>()[i] = sum;
  }
  return io::Dataset::fromSlices(Tensors(std::move(x), std::move(y)));
}

/// For the replicas of an instance. A step's elements are the same whatever the number of replicas, if
/// micro_batch · replicas is.
inline io::Infeed feed(const Context& context, std::size_t micro_batch) {
  return io::Infeed(samples().batch(micro_batch).forReplicas(io::InputContext::of(context)),
                    {.replicas = context.numLocalReplicas()});
}

/// Adds the sum over the micro-batch of the gradients, times `factor`, and to metrics[0] the loss.
inline void addGradients(const MicroBatch& batch, float factor) {
  const auto x = batch.input.get<float>("x");
  const auto y = batch.input.get<float>("y");
  const auto w = batch.parameters.get<float>("w");
  const float b = batch.parameters.get<float>("b")[0];
  for (std::size_t i = 0; i < y.size(); ++i) {
    float error = b - y[i];
    for (std::size_t j = 0; j < kInputs; ++j) error += w[j] * x[i * kInputs + j];
    batch.metrics[0] += 0.5 * static_cast<double>(error) * static_cast<double>(error);
    if (!batch.training) continue;
    for (std::size_t j = 0; j < kInputs; ++j)
      batch.gradients.get<float>("w")[j] += factor * error * x[i * kInputs + j];
    batch.gradients.get<float>("b")[0] += factor * error;
  }
}

}  // namespace popdist::train::regression
