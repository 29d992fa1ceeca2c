// SPDX-License-Identifier: Apache-2.0
#include "mlp.h"

#include <cmath>
#include <random>

namespace {

LabelledSamples samplesOf(std::span<const float> features, std::span<const std::int32_t> labels) {
  return {.features = features.data(), .labels = labels.data(), .count = static_cast<int>(labels.size())};
}

}  // namespace

std::size_t MlpShape::parameterCount() const {
  return static_cast<std::size_t>(inputs * hidden + hidden + hidden * classes + classes);
}

double MlpShape::flopsPerSample() const {
  return 2.0 * 3.0 * (inputs * hidden + hidden * classes);
}

Mlp::Mlp(const MlpShape& shape, const MlpKernels& kernels)
    : shape_(shape), kernels_(kernels), parameters_(shape.parameterCount()) {}

void Mlp::initialise(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto fill = [&random](std::span<float> weights, int inputs) {
    const float limit = std::sqrt(6.0F / static_cast<float>(inputs));  // He, uniform
    for (float& weight : weights) weight = limit * (static_cast<float>(random() >> 40) * 0x1.0p-23F - 1.0F);
  };
  const auto first = static_cast<std::size_t>(shape_.inputs * shape_.hidden);
  const auto second = static_cast<std::size_t>(shape_.hidden * shape_.classes);
  const std::span<float> all(parameters_);
  fill(all.first(first), shape_.inputs);
  fill(all.subspan(first + static_cast<std::size_t>(shape_.hidden), second), shape_.hidden);
}

Score Mlp::evaluate(std::span<const float> features, std::span<const std::int32_t> labels) const {
  return kernels_.evaluate(shape_, parameters_.data(), samplesOf(features, labels));
}

Score Mlp::accumulateGradient(std::span<const float> features, std::span<const std::int32_t> labels,
                              std::span<float> gradient) const {
  return kernels_.accumulateGradient(shape_, parameters_.data(), samplesOf(features, labels),
                                     gradient.data());
}

void Mlp::update(std::span<const float> gradient, std::span<float> velocity, const SgdStep& step) {
  kernels_.update(parameters_.data(), velocity.data(), gradient.data(), gradient.size(), step);
}
