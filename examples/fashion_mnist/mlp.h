// SPDX-License-Identifier: Apache-2.0
// A multi-layer perceptron with one hidden layer: ReLU, softmax, cross-entropy. All parameters lie in one
// vector, so that one all-reduce carries the whole gradient.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

struct MlpShape {
  int inputs = 784;
  int hidden = 128;
  int classes = 10;

  std::size_t parameterCount() const;
  /// Floating-point operations of forward and backward pass for one sample (2 for each multiply-add, 3
  /// products).
  double flopsPerSample() const;
};

struct Score {
  double loss_sum = 0;  ///< cross-entropy, summed over the samples
  std::int64_t correct = 0;
};

class Mlp {
 public:
  explicit Mlp(const MlpShape& shape);

  /// Random weights, zero biases; reproducible from `seed`.
  void initialise(std::uint64_t seed);

  /// Scores a batch: `features` is batch x inputs, row by row.
  Score evaluate(std::span<const float> features, std::span<const std::int32_t> labels) const;

  /// The same, and adds the gradient of loss_sum to `gradient` (parameterCount() values).
  Score accumulateGradient(std::span<const float> features, std::span<const std::int32_t> labels,
                           std::span<float> gradient) const;

  std::span<float> parameters() { return parameters_; }
  std::span<const float> parameters() const { return parameters_; }

 private:
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  struct Activations {
    Matrix hidden;         ///< batch x hidden, after ReLU
    Matrix probabilities;  ///< batch x classes
  };
  Activations forward(const Eigen::Map<const Matrix>& batch) const;
  Score score(const Matrix& probabilities, std::span<const std::int32_t> labels) const;

  MlpShape shape_;
  std::vector<float> parameters_;  ///< weights 1, bias 1, weights 2, bias 2
};
