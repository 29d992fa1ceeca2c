// SPDX-License-Identifier: Apache-2.0
// A multi-layer perceptron with one hidden layer: ReLU, softmax, cross-entropy. All parameters lie in one
// vector, so that one all-reduce carries the whole gradient.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels.h"

class Mlp {
 public:
  Mlp(const MlpShape& shape, const MlpKernels& kernels);

  /// Random weights, zero biases; reproducible from `seed`.
  void initialise(std::uint64_t seed);

  /// Scores a batch: `features` is batch x inputs, row by row.
  Score evaluate(std::span<const float> features, std::span<const std::int32_t> labels) const;

  /// The same, and adds the gradient of loss_sum to `gradient` (parameterCount() values).
  Score accumulateGradient(std::span<const float> features, std::span<const std::int32_t> labels,
                           std::span<float> gradient) const;

  /// SGD with momentum; `velocity` is as long as `gradient`.
  void update(std::span<const float> gradient, std::span<float> velocity, const SgdStep& step);

  std::span<float> parameters() { return parameters_; }
  std::span<const float> parameters() const { return parameters_; }

 private:
  MlpShape shape_;
  MlpKernels kernels_;
  std::vector<float> parameters_;  ///< weights 1, bias 1, weights 2, bias 2
};
