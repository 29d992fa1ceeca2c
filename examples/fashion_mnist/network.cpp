// SPDX-License-Identifier: Apache-2.0
#include "network.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "layers.h"

namespace {

struct Named {
  std::string_view name;
  NetworkShape shape;
};

std::vector<Named> networks() {
  return {
      {"mlp", {.blocks = {}, .dense = {128, 10}}},
      {"cnn", {.blocks = {{.filters = 16, .padding = 1}, {.filters = 32, .padding = 1}}, .dense = {64, 10}}},
      {"small-cnn", {.blocks = {{.filters = 8, .padding = 0}}, .dense = {8, 10}, .learning_rate = 0.07F}}};
}

std::vector<std::unique_ptr<Layer>> layersOf(const NetworkShape& shape, const Loops& loops) {
  std::vector<std::unique_ptr<Layer>> layers;
  int height = shape.height;
  int width = shape.width;
  int channels = 1;
  for (const ConvolutionBlock& block : shape.blocks) {
    const ConvolutionShape convolution{.height = height,
                                       .width = width,
                                       .channels = channels,
                                       .filters = block.filters,
                                       .padding = block.padding};
    layers.push_back(std::make_unique<ConvolutionLayer>(convolution, loops));
    height = convolution.outputHeight() / 2;
    width = convolution.outputWidth() / 2;
    channels = block.filters;
  }
  int inputs = height * width * channels;
  for (std::size_t i = 0; i < shape.dense.size(); ++i) {
    layers.push_back(std::make_unique<DenseLayer>(inputs, shape.dense[i], i + 1 < shape.dense.size(), loops));
    inputs = shape.dense[i];
  }
  return layers;
}

Score scoreOf(Floats probabilities, std::span<const std::int32_t> labels) {
  Score score;
  const std::size_t classes = probabilities.size() / labels.size();
  for (std::size_t sample = 0; sample < labels.size(); ++sample) {
    const Floats row = probabilities.subspan(sample * classes, classes);
    const auto label = static_cast<std::size_t>(labels[sample]);
    const auto best = std::max_element(row.begin(), row.end()) - row.begin();
    score.correct += best == labels[sample] ? 1 : 0;
    score.loss_sum -= std::log(std::max(row[label], 1e-12F));
  }
  return score;
}

}  // namespace

std::optional<NetworkShape> networkNamed(std::string_view name) {
  for (const Named& each : networks()) {
    if (each.name == name) return each.shape;
  }
  return std::nullopt;
}

class Network::Impl {
 public:
  Impl(const NetworkShape& shape, const Loops& loops)
      : sample_(shape.inputs()), loops_(loops), layers_(layersOf(shape, loops)) {
    std::size_t begin = 0;
    for (const auto& layer : layers_) {
      begins_.push_back(begin);
      begin += layer->parameterCount();
    }
    begins_.push_back(begin);
  }

  std::size_t inputs() const { return sample_; }
  std::size_t parameterCount() const { return begins_.back(); }
  const std::vector<std::unique_ptr<Layer>>& layers() const { return layers_; }

  template <typename Span>
  Span ofLayer(std::size_t layer, Span all) const {
    return all.subspan(begins_[layer], begins_[layer + 1] - begins_[layer]);
  }

  /// Returns the probabilities, and keeps each layer's input for the way back.
  std::span<float> forward(Floats parameters, const LabelledSamples& samples) {
    const std::size_t batch = samples.labels.size();
    inputs_.assign(1, samples.features);
    std::span<float> output;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      output = layers_[i]->forward(batch, ofLayer(i, parameters), inputs_.back());
      inputs_.push_back(output);
    }
    loops_.softmax(output.data(), batch, output.size() / batch);
    return output;
  }

  /// `d_output` belongs to the last layer.
  void backward(std::size_t batch, Floats parameters, std::span<float> d_output, std::span<float> gradient) {
    for (std::size_t i = layers_.size(); i-- > 0;) {
      std::vector<float>& memory = d_inputs_[i % 2];
      if (i > 0) memory.resize(std::max(memory.size(), inputs_[i].size()));
      const std::span<float> d_input(memory.data(), i > 0 ? inputs_[i].size() : 0);
      layers_[i]->backward(batch, ofLayer(i, parameters), inputs_[i], d_output, ofLayer(i, gradient),
                           d_input);
      d_output = d_input;
    }
  }

 private:
  std::size_t sample_;  ///< pixels of one
  Loops loops_;
  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<std::size_t> begins_;  ///< of each layer's parameters, and the end
  std::vector<Floats> inputs_;       ///< of each layer, and the last one's output
  std::vector<float> d_inputs_[2];   ///< of a layer and of the one behind it
};

Network::Network(const NetworkShape& shape, Isa isa) {
  useInstructionSet(isa);
  impl_ = std::make_unique<Impl>(shape, loopsOf(isa));
}
Network::~Network() = default;

std::size_t Network::parameterCount() const {
  return impl_->parameterCount();
}

double Network::flopsPerSample() const {
  double sum = 0;
  for (const auto& layer : impl_->layers()) sum += 2.0 * 3.0 * layer->multiplicationsPerSample();
  return sum;
}

void Network::initialise(std::span<float> parameters, std::uint64_t seed) const {
  std::mt19937_64 random(seed);
  std::fill(parameters.begin(), parameters.end(), 0.0F);
  for (std::size_t i = 0; i < impl_->layers().size(); ++i) {
    const Layer& layer = *impl_->layers()[i];
    const float limit = std::sqrt(6.0F / static_cast<float>(layer.inputsPerOutput()));  // He, uniform
    for (float& weight : impl_->ofLayer(i, parameters).first(layer.weightCount()))
      weight = limit * (static_cast<float>(random() >> 40) * 0x1.0p-23F - 1.0F);
  }
}

void Network::prepare(std::size_t samples) {
  const std::vector<float> parameters(parameterCount());
  std::vector<float> gradient(parameterCount());
  const std::vector<float> features(samples * impl_->inputs());
  const std::vector<std::int32_t> labels(samples);
  accumulateGradient(parameters, {.features = features, .labels = labels}, gradient);
}

Score Network::evaluate(std::span<const float> parameters, const LabelledSamples& samples) {
  return scoreOf(impl_->forward(parameters, samples), samples.labels);
}

Score Network::accumulateGradient(std::span<const float> parameters, const LabelledSamples& samples,
                                  std::span<float> gradient) {
  const std::span<float> probabilities = impl_->forward(parameters, samples);
  const Score score = scoreOf(probabilities, samples.labels);
  // The gradient of softmax and cross-entropy together, in place.
  const std::size_t classes = probabilities.size() / samples.labels.size();
  for (std::size_t sample = 0; sample < samples.labels.size(); ++sample)
    probabilities[sample * classes + static_cast<std::size_t>(samples.labels[sample])] -= 1.0F;
  impl_->backward(samples.labels.size(), parameters, probabilities, gradient);
  return score;
}
