// SPDX-License-Identifier: Apache-2.0
// The layers of a network. Each keeps what it computed forwards for the way back, and the gradient with
// respect to its output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "loops.h"
#include "products.h"

using Floats = std::span<const float>;

/// Parameters of one layer; or the addends to the gradients of both.
template <typename T>
struct WeightsAndBias {
  std::span<T> weights;
  std::span<T> bias;
};

class Layer {
 public:
  virtual ~Layer() = default;

  virtual std::size_t weightCount() const = 0;
  virtual std::size_t biasCount() const = 0;
  /// Shape of the weights, as they lie in memory.
  virtual std::vector<std::size_t> weightShape() const = 0;
  virtual std::size_t outputsPerSample() const = 0;
  virtual double multiplicationsPerSample() const = 0;  ///< of one product

  /// Returns batch x outputsPerSample(), in this layer's memory.
  virtual std::span<float> forward(std::size_t batch, const WeightsAndBias<const float>& parameters,
                                   Floats input) = 0;
  /// `d_output` is the gradient with respect to the output of the last forward(); its values may be changed.
  /// Adds that of the parameters to `gradient`, and writes that of the input to `d_input` unless it is empty.
  virtual void backward(std::size_t batch, const WeightsAndBias<const float>& parameters, Floats input,
                        std::span<float> d_output, const WeightsAndBias<float>& gradient,
                        std::span<float> d_input) = 0;
};

class DenseLayer final : public Layer {
 public:
  /// With a ReLU behind it, or without.
  DenseLayer(int inputs, int units, bool relu, const Loops& loops)
      : inputs_(inputs), units_(units), relu_(relu), loops_(loops) {}

  std::size_t weightCount() const override;
  std::size_t biasCount() const override { return static_cast<std::size_t>(units_); }
  std::vector<std::size_t> weightShape() const override {
    return {static_cast<std::size_t>(inputs_), biasCount()};
  }
  std::size_t outputsPerSample() const override { return biasCount(); }
  double multiplicationsPerSample() const override { return static_cast<double>(weightCount()); }
  std::span<float> forward(std::size_t batch, const WeightsAndBias<const float>& parameters,
                           Floats input) override;
  void backward(std::size_t batch, const WeightsAndBias<const float>& parameters, Floats input,
                std::span<float> d_output, const WeightsAndBias<float>& gradient,
                std::span<float> d_input) override;

 private:
  int inputs_, units_;
  bool relu_;
  Loops loops_;
  std::vector<float> output_;
};

/// Convolution, ReLU, and the largest of each 2 x 2.
class ConvolutionLayer final : public Layer {
 public:
  /// Throws std::runtime_error if the convolution's output has an odd side.
  ConvolutionLayer(const ConvolutionShape& shape, const Loops& loops);

  std::size_t weightCount() const override;
  std::size_t biasCount() const override { return static_cast<std::size_t>(shape_.filters); }
  std::vector<std::size_t> weightShape() const override {
    return {3, 3, static_cast<std::size_t>(shape_.channels), biasCount()};
  }
  std::size_t outputsPerSample() const override { return pixels() / 4; }
  double multiplicationsPerSample() const override;
  std::span<float> forward(std::size_t batch, const WeightsAndBias<const float>& parameters,
                           Floats input) override;
  void backward(std::size_t batch, const WeightsAndBias<const float>& parameters, Floats input,
                std::span<float> d_output, const WeightsAndBias<float>& gradient,
                std::span<float> d_input) override;

 private:
  int inputsPerOutput() const { return 9 * shape_.channels; }
  std::size_t pixels() const;  ///< of all filters' outputs, before pooling
  PoolShape poolOf(std::size_t batch) const;

  ConvolutionShape shape_;
  Convolution convolution_;
  Loops loops_;
  std::vector<float> sums_;  ///< the convolution's output of a few samples; backwards, its gradient
  std::vector<float> output_;
  std::vector<std::int32_t> winner_;
};
