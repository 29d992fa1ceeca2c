// SPDX-License-Identifier: Apache-2.0
// A perceptron of four stages with kernels written out, and the same model without a pipeline: one
// micro-batch after the other, each layer a loop over vectors.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "popdist/io.hpp"
#include "popdist/parameters.hpp"
#include "popdist/pipeline.hpp"

namespace popdist::train::testing {

inline constexpr std::size_t kRows = 5, kClasses = 3;
inline constexpr std::size_t kWidths[] = {6, 7, 4, 5};  // each stage's input

using Values = std::vector<float>;

// y = relu(x w + b)
inline void dense(std::span<const float> x, std::span<const float> w, std::span<const float> b,
                  std::span<float> y) {
  const std::size_t in = x.size() / kRows, out = b.size();
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t j = 0; j < out; ++j) {
      float sum = b[j];
      for (std::size_t i = 0; i < in; ++i) sum += x[row * in + i] * w[i * out + j];
      y[row * out + j] = sum > 0 ? sum : 0;
    }
  }
}

// `y` is what dense gave; dx is empty if it is not needed. Adds to dw and db.
inline void denseBackward(std::span<const float> x, std::span<const float> w, std::span<const float> y,
                          std::span<const float> dy, std::span<float> dx, std::span<float> dw,
                          std::span<float> db) {
  const std::size_t in = x.size() / kRows, out = db.size();
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t j = 0; j < out; ++j) {
      const float gradient = y[row * out + j] > 0 ? dy[row * out + j] : 0;
      db[j] += gradient;
      for (std::size_t i = 0; i < in; ++i) {
        dw[i * out + j] += x[row * in + i] * gradient;
        if (!dx.empty()) dx[row * in + i] += w[i * out + j] * gradient;
      }
    }
  }
}

// Softmax of x w + b, and its mean cross-entropy times `scale`.
inline float head(std::span<const float> x, std::span<const float> w, std::span<const float> b,
                  std::span<const std::int32_t> label, float scale, std::span<float> probability) {
  const std::size_t in = x.size() / kRows;
  float loss = 0;
  for (std::size_t row = 0; row < kRows; ++row) {
    float sum = 0;
    for (std::size_t j = 0; j < kClasses; ++j) {
      float logit = b[j];
      for (std::size_t i = 0; i < in; ++i) logit += x[row * in + i] * w[i * kClasses + j];
      sum += probability[row * kClasses + j] = std::exp(logit);
    }
    for (std::size_t j = 0; j < kClasses; ++j) probability[row * kClasses + j] /= sum;
    loss -= std::log(probability[row * kClasses + static_cast<std::size_t>(label[row])]);
  }
  return loss * scale / kRows;
}

inline void headBackward(std::span<const float> x, std::span<const float> w,
                         std::span<const std::int32_t> label, float scale, std::span<const float> probability,
                         std::span<float> dx, std::span<float> dw, std::span<float> db) {
  const std::size_t in = x.size() / kRows;
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t j = 0; j < kClasses; ++j) {
      const float target = static_cast<std::size_t>(label[row]) == j ? 1.0F : 0.0F;
      const float gradient = (probability[row * kClasses + j] - target) * scale / kRows;
      db[j] += gradient;
      for (std::size_t i = 0; i < in; ++i) {
        dw[i * kClasses + j] += x[row * in + i] * gradient;
        dx[row * in + i] += w[i * kClasses + j] * gradient;
      }
    }
  }
}

inline Parameters mlpParameters() {
  Parameters parameters;
  for (std::size_t layer = 0; layer < 4; ++layer) {
    const std::size_t out = layer < 3 ? kWidths[layer + 1] : kClasses;
    parameters.add("w" + std::to_string(layer), {kWidths[layer], out}, heUniform());
    parameters.add("b" + std::to_string(layer), {out}, constant(0.1));
  }
  return parameters;
}

// Hands the label and the scale on, as later stages see only what the one before makes.
inline Stage denseStage(std::size_t layer) {
  const std::size_t w = 2 * layer, b = w + 1;
  const std::size_t out = kWidths[layer + 1];
  Stage stage;
  stage.name = "dense" + std::to_string(layer);
  stage.parameters = {w, b};
  stage.outputs = {
      {"x", Type::kFloat, {kRows, out}}, {"label", Type::kInt32, {kRows}}, {"scale", Type::kFloat, {}}};
  stage.saved = {{{"y", Type::kFloat, {kRows, out}}}};
  stage.forward = [=](Io& io) {
    dense(io.in("x"), io.par(w), io.par(b), io.saved("y"));
    const auto y = io.saved("y");
    std::copy(y.begin(), y.end(), io.out("x").begin());
    const auto label = io.in<std::int32_t>("label");
    std::copy(label.begin(), label.end(), io.out<std::int32_t>("label").begin());
    io.out("scale")[0] = io.in("scale")[0];
  };
  stage.backward = [=](Io& io) {
    denseBackward(io.in("x"), io.par(w), io.saved("y"), io.gradOut("x"), io.gradIn("x"), io.gradPar(w),
                  io.gradPar(b));
  };
  return stage;
}

inline Stage headStage() {
  Stage stage;
  stage.name = "head";
  stage.parameters = {6, 7};
  stage.outputs = {{"loss", Type::kFloat, {}}, {"probability", Type::kFloat, {kRows, kClasses}}};
  stage.forward = [](Io& io) {
    io.out("loss")[0] = head(io.in("x"), io.par(6), io.par(7), io.in<std::int32_t>("label"),
                             io.in("scale")[0], io.out("probability"));
  };
  stage.backward = [](Io& io) {
    headBackward(io.in("x"), io.par(6), io.in<std::int32_t>("label"), io.in("scale")[0],
                 io.out("probability"), io.gradIn("x"), io.gradPar(6), io.gradPar(7));
  };
  return stage;
}

inline PipelineOptions mlp(ScheduleKind kind, std::int64_t count) {
  PipelineOptions options{.stages = {denseStage(0), denseStage(1), denseStage(2), headStage()}};
  options.parameters = mlpParameters().spec();
  options.inputs = {{"x", Type::kFloat, {kRows, kWidths[0]}}, {"label", Type::kInt32, {kRows}}};
  options.arguments = {{"scale", Type::kFloat, {}}};
  options.schedule = kind;
  options.gradient_accumulation_count = count;
  options.loss = "loss";
  return options;
}

/// Samples that depend on their index alone, without end.
inline io::Dataset samples() {
  return io::Dataset::fromGenerator(
             {{"x", Type::kFloat, {kWidths[0]}}, {"label", Type::kInt32, {}}},
             [](std::uint64_t) -> io::Generator {
               return [index = std::uint32_t{0}](TensorRefs sample) mutable {
                 for (float& x : sample.get<float>(0)) {
                   index = index * 1664525U + 1013904223U;
                   x = static_cast<float>(index >> 8U) / static_cast<float>(1U << 23U) - 1;
                 }
                 sample.get<std::int32_t>(1)[0] = static_cast<std::int32_t>((index >> 16U) % kClasses);
                 return true;
               };
             })
      .batch(kRows);
}

/// The same model, without stages: forward, backward, forward, backward …
class Unpipelined {
 public:
  /// Adds to `gradients`, and returns the loss.
  float add(const Tensors& batch, float scale, ConstTensorRefs values, TensorRefs gradients) {
    Values y[4];
    std::span<const float> x = batch.get<float>("x");
    const auto label = batch.get<std::int32_t>("label");
    for (std::size_t layer = 0; layer < 3; ++layer) {
      y[layer].resize(kRows * kWidths[layer + 1]);
      dense(x, values.get<float>(2 * layer), values.get<float>(2 * layer + 1), y[layer]);
      x = y[layer];
    }
    Values probability(kRows * kClasses);
    const float loss = head(x, values.get<float>(6), values.get<float>(7), label, scale, probability);
    Values dy(kRows * kWidths[3]);
    headBackward(x, values.get<float>(6), label, scale, probability, dy, gradients.get<float>(6),
                 gradients.get<float>(7));
    for (std::size_t layer = 3; layer-- > 0;) {
      Values dx(layer > 0 ? kRows * kWidths[layer] : 0);
      denseBackward(layer > 0 ? std::span<const float>(y[layer - 1]) : batch.get<float>("x"),
                    values.get<float>(2 * layer), y[layer], dy, dx, gradients.get<float>(2 * layer),
                    gradients.get<float>(2 * layer + 1));
      dy = std::move(dx);
    }
    return loss;
  }
};

/// values -= rate * gradients
inline void descend(Tensors& values, const Tensors& gradients, float rate) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = values.get<float>(i);
    const auto gradient = gradients.get<float>(i);
    for (std::size_t j = 0; j < value.size(); ++j) value[j] -= rate * gradient[j];
  }
}

}  // namespace popdist::train::testing
