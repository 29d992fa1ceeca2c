// SPDX-License-Identifier: Apache-2.0
// Networks that classify images: blocks of convolution, ReLU and pooling, then dense layers with ReLU between
// them, softmax and cross-entropy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <popdist/popdist.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "isa.h"

/// 3 x 3 pixels, then the largest of each 2 x 2.
struct ConvolutionBlock {
  int filters;
  int padding;  ///< zeros around its input
};

struct NetworkShape {
  int height = 28, width = 28;
  std::vector<ConvolutionBlock> blocks;
  std::vector<int> dense;      ///< units of each layer; the last one's are the classes
  float learning_rate = 0.1F;  ///< with which it learns well

  std::size_t inputs() const { return static_cast<std::size_t>(height) * static_cast<std::size_t>(width); }
  std::size_t classes() const { return static_cast<std::size_t>(dense.back()); }
};

/// "mlp": 128 units; "cnn": 16 and 32 filters, 64 units; "small-cnn": 8 filters, 8 units.
std::optional<NetworkShape> networkNamed(std::string_view name);

struct Score {
  double loss_sum = 0;  ///< cross-entropy, summed over the samples
  std::int64_t correct = 0;
};

struct LabelledSamples {
  std::span<const float> features;  ///< labels.size() x inputs, row by row
  std::span<const std::int32_t> labels;
};

/// The arithmetic of a network, and memory for what its layers compute; parameters are the caller's. Results
/// do not depend on the calls before. One thread at a time.
class Network {
 public:
  /// Decides the instruction set of this process (products.h). Throws std::runtime_error if a pooled image
  /// has an odd side.
  Network(const NetworkShape& shape, Isa isa);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// Two for each layer, in their order: such as "convolution1.weight", "convolution1.bias", "dense2.weight".
  popdist::train::Parameters parameters() const;
  /// Floating-point operations of forward and backward pass for one sample: 2 for each multiply-add.
  double flopsPerSample() const;

  /// Lets oneDNN compile what it needs for so many samples, which takes up to 0.1 s: otherwise the first call
  /// does.
  void prepare(std::size_t samples);

  /// `parameters`, and gradients, are as parameters() says.
  Score evaluate(popdist::ConstTensorRefs parameters, const LabelledSamples& samples);
  /// The same, and adds the gradient of factor · loss_sum to `gradients`.
  Score accumulateGradients(popdist::ConstTensorRefs parameters, const LabelledSamples& samples, float factor,
                            popdist::TensorRefs gradients);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};
