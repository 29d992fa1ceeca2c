// SPDX-License-Identifier: Apache-2.0
// ISA is the namespace of one instruction set's copy.
#include "kernels.h"

#include <Eigen/Dense>
#include <cmath>

namespace ISA {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Row = Eigen::RowVectorXf;

// The four parts of a parameter (or gradient) vector: weights 1, bias 1, weights 2, bias 2.
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
using ReadParts = Parts<const float*, Eigen::Map<const Matrix>, Eigen::Map<const Row>>;
using WriteParts = Parts<float*, Eigen::Map<Matrix>, Eigen::Map<Row>>;

struct Activations {
  Matrix hidden;         // batch x hidden, after ReLU
  Matrix probabilities;  // batch x classes
};

Eigen::Map<const Matrix> featuresOf(const LabelledSamples& samples, const MlpShape& shape) {
  return {samples.features, samples.count, shape.inputs};
}

Activations forward(const MlpShape& shape, const float* parameters, const LabelledSamples& samples) {
  const ReadParts parts(parameters, shape);
  Activations result;
  result.hidden.noalias() = featuresOf(samples, shape) * parts.weights1;
  result.hidden = (result.hidden.rowwise() + parts.bias1).cwiseMax(0.0F);
  Matrix logits = (result.hidden * parts.weights2).rowwise() + parts.bias2;
  logits.colwise() -= logits.rowwise().maxCoeff().eval();
  result.probabilities = logits.array().exp();
  result.probabilities.array().colwise() /= result.probabilities.rowwise().sum().eval().array();
  return result;
}

Score scoreOf(const Matrix& probabilities, const std::int32_t* labels) {
  Score score;
  for (Eigen::Index sample = 0; sample < probabilities.rows(); ++sample) {
    Eigen::Index best = 0;
    probabilities.row(sample).maxCoeff(&best);
    score.correct += best == labels[sample] ? 1 : 0;
    const float probability = probabilities(sample, labels[sample]);
    score.loss_sum -= std::log(probability > 1e-12F ? probability : 1e-12F);
  }
  return score;
}

Score evaluate(const MlpShape& shape, const float* parameters, const LabelledSamples& samples) {
  return scoreOf(forward(shape, parameters, samples).probabilities, samples.labels);
}

Score accumulateGradient(const MlpShape& shape, const float* parameters, const LabelledSamples& samples,
                         float* gradient) {
  const Activations activations = forward(shape, parameters, samples);

  // Backwards: softmax with cross-entropy, the output layer, ReLU, the hidden layer.
  Matrix d_logits = activations.probabilities;
  for (int sample = 0; sample < samples.count; ++sample) d_logits(sample, samples.labels[sample]) -= 1.0F;
  const ReadParts parts(parameters, shape);
  const Matrix d_hidden = (d_logits * parts.weights2.transpose())
                              .cwiseProduct((activations.hidden.array() > 0.0F).cast<float>().matrix());
  WriteParts sum(gradient, shape);
  sum.weights2.noalias() += activations.hidden.transpose() * d_logits;
  sum.bias2 += d_logits.colwise().sum();
  sum.weights1.noalias() += featuresOf(samples, shape).transpose() * d_hidden;
  sum.bias1 += d_hidden.colwise().sum();
  return scoreOf(activations.probabilities, samples.labels);
}

void update(float* weights, float* velocity, const float* gradient, std::size_t count, const SgdStep& step) {
  for (std::size_t i = 0; i < count; ++i) {
    velocity[i] = step.momentum * velocity[i] + step.gradient_scale * gradient[i];
    weights[i] -= step.learning_rate * velocity[i];
  }
}

}  // namespace

// Eigen cuts products into blocks that fit the caches, and sums come out otherwise for other blocks: the
// sizes must be the same on every CPU, not the ones that it finds.
MlpKernels kernels() {
  Eigen::setCpuCacheSizes(32 * 1024, 512 * 1024, 4 * 1024 * 1024);
  return {.evaluate = evaluate, .accumulateGradient = accumulateGradient, .update = update};
}

}  // namespace ISA
