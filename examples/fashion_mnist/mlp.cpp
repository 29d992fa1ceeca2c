// SPDX-License-Identifier: Apache-2.0
#include "mlp.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace {

// The four parts of a parameter (or gradient) vector.
template <typename Pointer, typename MatrixMap, typename VectorMap>
struct Parts {
  MatrixMap weights1, weights2;
  VectorMap bias1, bias2;

  Parts(Pointer start, const MlpShape& shape)
      : weights1(start, shape.inputs, shape.hidden),
        weights2(start + shape.inputs * shape.hidden + shape.hidden, shape.hidden, shape.classes),
        bias1(start + shape.inputs * shape.hidden, shape.hidden),
        bias2(start + shape.inputs * shape.hidden + shape.hidden + shape.hidden * shape.classes,
              shape.classes) {}
};

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Row = Eigen::RowVectorXf;
using ReadParts = Parts<const float*, Eigen::Map<const Matrix>, Eigen::Map<const Row>>;
using WriteParts = Parts<float*, Eigen::Map<Matrix>, Eigen::Map<Row>>;

}  // namespace

std::size_t MlpShape::parameterCount() const {
  return static_cast<std::size_t>(inputs * hidden + hidden + hidden * classes + classes);
}

double MlpShape::flopsPerSample() const {
  return 2.0 * 3.0 * (inputs * hidden + hidden * classes);
}

Mlp::Mlp(const MlpShape& shape) : shape_(shape), parameters_(shape.parameterCount()) {}

void Mlp::initialise(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto fill = [&random](auto&& weights, int inputs) {
    const float limit = std::sqrt(6.0F / static_cast<float>(inputs));  // He, uniform
    for (float& weight : weights.reshaped()) {
      weight = limit * (static_cast<float>(random() >> 40) * 0x1.0p-23F - 1.0F);
    }
  };
  WriteParts parts(parameters_.data(), shape_);
  fill(parts.weights1, shape_.inputs);
  fill(parts.weights2, shape_.hidden);
  parts.bias1.setZero();
  parts.bias2.setZero();
}

Mlp::Activations Mlp::forward(const Eigen::Map<const Matrix>& batch) const {
  const ReadParts parts(parameters_.data(), shape_);
  Activations result;
  result.hidden = ((batch * parts.weights1).rowwise() + parts.bias1).cwiseMax(0.0F);
  Matrix logits = (result.hidden * parts.weights2).rowwise() + parts.bias2;
  logits.colwise() -= logits.rowwise().maxCoeff().eval();
  result.probabilities = logits.array().exp();
  result.probabilities.array().colwise() /= result.probabilities.rowwise().sum().eval().array();
  return result;
}

Score Mlp::score(const Matrix& probabilities, std::span<const std::int32_t> labels) const {
  Score score;
  for (Eigen::Index sample = 0; sample < probabilities.rows(); ++sample) {
    const std::int32_t label = labels[static_cast<std::size_t>(sample)];
    Eigen::Index best = 0;
    probabilities.row(sample).maxCoeff(&best);
    score.correct += best == label ? 1 : 0;
    score.loss_sum -= std::log(std::max(probabilities(sample, label), 1e-12F));
  }
  return score;
}

Score Mlp::evaluate(std::span<const float> features, std::span<const std::int32_t> labels) const {
  const Eigen::Map<const Matrix> batch(features.data(), static_cast<Eigen::Index>(labels.size()),
                                       shape_.inputs);
  return score(forward(batch).probabilities, labels);
}

Score Mlp::accumulateGradient(std::span<const float> features, std::span<const std::int32_t> labels,
                              std::span<float> gradient) const {
  const Eigen::Map<const Matrix> batch(features.data(), static_cast<Eigen::Index>(labels.size()),
                                       shape_.inputs);
  const Activations activations = forward(batch);

  // Backwards: softmax with cross-entropy, the output layer, ReLU, the hidden layer.
  Matrix d_logits = activations.probabilities;
  for (std::size_t sample = 0; sample < labels.size(); ++sample) {
    d_logits(static_cast<Eigen::Index>(sample), labels[sample]) -= 1.0F;
  }
  const ReadParts parts(parameters_.data(), shape_);
  const Matrix d_hidden = (d_logits * parts.weights2.transpose())
                              .cwiseProduct((activations.hidden.array() > 0.0F).cast<float>().matrix());
  WriteParts sum(gradient.data(), shape_);
  sum.weights2.noalias() += activations.hidden.transpose() * d_logits;
  sum.bias2 += d_logits.colwise().sum();
  sum.weights1.noalias() += batch.transpose() * d_hidden;
  sum.bias1 += d_hidden.colwise().sum();
  return score(activations.probabilities, labels);
}
