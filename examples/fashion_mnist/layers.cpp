// SPDX-License-Identifier: Apache-2.0
#include "layers.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace {

template <typename T>
std::span<T> firstOf(std::vector<T>& memory, std::size_t count) {
  if (memory.size() < count) memory.resize(count);
  return std::span(memory).first(count);
}

/// Samples that follow each other. What a convolution gives for them stays in the cache until it is pooled.
struct Group {
  std::size_t first, samples;

  /// Their part of what belongs to `batch` samples.
  template <typename T>
  std::span<T> of(std::span<T> all, std::size_t batch) const {
    const std::size_t each = all.size() / batch;
    return all.subspan(first * each, samples * each);
  }
};

template <typename Function>
void forEachGroup(std::size_t batch, Function function) {
  constexpr std::size_t kSamples = 8;
  for (std::size_t first = 0; first < batch; first += kSamples)
    function(Group{first, std::min(kSamples, batch - first)});
}

}  // namespace

std::size_t DenseLayer::weightCount() const {
  return static_cast<std::size_t>(inputs_) * static_cast<std::size_t>(units_);
}

std::span<float> DenseLayer::forward(std::size_t batch, const WeightsAndBias<const float>& parameters,
                                     Floats input) {
  const std::span<float> output = firstOf(output_, batch * biasCount());
  multiply({.rows = static_cast<int>(batch), .columns = units_, .inner = inputs_}, input.data(),
           parameters.weights.data(), output.data());
  (relu_ ? loops_.addBiasRelu : loops_.addBias)(output.data(), parameters.bias.data(), batch, biasCount());
  return output;
}

void DenseLayer::backward(std::size_t batch, const WeightsAndBias<const float>& parameters, Floats input,
                          std::span<float> d_output, const WeightsAndBias<float>& gradient,
                          std::span<float> d_input) {
  const int rows = static_cast<int>(batch);
  if (relu_) loops_.reluBackward(d_output.data(), output_.data(), d_output.size());
  multiply({.rows = inputs_, .columns = units_, .inner = rows, .a = Transposed::kYes, .adds = true},
           input.data(), d_output.data(), gradient.weights.data());
  loops_.addColumnSums(gradient.bias.data(), d_output.data(), batch, biasCount());
  if (!d_input.empty())
    multiply({.rows = rows, .columns = inputs_, .inner = units_, .b = Transposed::kYes}, d_output.data(),
             parameters.weights.data(), d_input.data());
}

ConvolutionLayer::ConvolutionLayer(const ConvolutionShape& shape, const Loops& loops)
    : shape_(shape), convolution_(shape), loops_(loops) {
  if (shape.outputHeight() % 2 == 0 && shape.outputWidth() % 2 == 0) return;
  throw std::runtime_error("pooling 2 x 2 pixels of " + std::to_string(shape.outputHeight()) + " x " +
                           std::to_string(shape.outputWidth()) + ": the network needs even sides");
}

std::size_t ConvolutionLayer::weightCount() const {
  return static_cast<std::size_t>(inputsPerOutput()) * biasCount();
}

std::size_t ConvolutionLayer::pixels() const {
  return static_cast<std::size_t>(shape_.outputHeight()) * static_cast<std::size_t>(shape_.outputWidth()) *
         biasCount();
}

double ConvolutionLayer::multiplicationsPerSample() const {
  return static_cast<double>(pixels()) * inputsPerOutput();
}

PoolShape ConvolutionLayer::poolOf(std::size_t batch) const {
  return {.batch = static_cast<int>(batch),
          .height = shape_.outputHeight(),
          .width = shape_.outputWidth(),
          .channels = shape_.filters};
}

std::span<float> ConvolutionLayer::forward(std::size_t batch, const WeightsAndBias<const float>& parameters,
                                           Floats input) {
  const std::span<float> output = firstOf(output_, batch * outputsPerSample());
  const std::span<std::int32_t> winner = firstOf(winner_, output.size());
  forEachGroup(batch, [&](const Group& group) {
    const std::span<float> sums = firstOf(sums_, group.samples * pixels());
    convolution_.forward(static_cast<int>(group.samples), group.of(input, batch).data(),
                         parameters.weights.data(), parameters.bias.data(), sums.data());
    loops_.reluMaxPool(poolOf(group.samples), sums.data(), group.of(output, batch).data(),
                       group.of(winner, batch).data());
  });
  return output;
}

void ConvolutionLayer::backward(std::size_t batch, const WeightsAndBias<const float>& parameters,
                                Floats input, std::span<float> d_output,
                                const WeightsAndBias<float>& gradient, std::span<float> d_input) {
  const std::span<std::int32_t> winner = firstOf(winner_, d_output.size());
  forEachGroup(batch, [&](const Group& group) {
    const int samples = static_cast<int>(group.samples);
    loops_.reluMaxPoolBackward(poolOf(group.samples), group.of(d_output, batch).data(),
                               group.of(winner, batch).data(), sums_.data());
    convolution_.backwardWeights(samples, group.of(input, batch).data(), sums_.data(),
                                 gradient.weights.data(), gradient.bias.data());
    if (!d_input.empty())
      convolution_.backwardData(samples, sums_.data(), parameters.weights.data(),
                                group.of(d_input, batch).data());
  });
}
