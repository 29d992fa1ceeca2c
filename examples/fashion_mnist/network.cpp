// SPDX-License-Identifier: Apache-2.0
#include "network.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

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

/// Those of layer number `layer`.
template <typename Byte>
auto ofLayer(std::size_t layer, const popdist::BasicTensorRefs<Byte>& all) {
  using Float = std::conditional_t<std::is_const_v<Byte>, const float, float>;
  return WeightsAndBias<Float>{all.template get<float>(2 * layer), all.template get<float>(2 * layer + 1)};
}

class Network::Impl {
 public:
  Impl(const NetworkShape& shape, const Loops& loops)
      : sample_(shape.inputs()),
        convolutions_(shape.blocks.size()),
        loops_(loops),
        layers_(layersOf(shape, loops)) {}

  std::size_t inputs() const { return sample_; }
  std::size_t convolutions() const { return convolutions_; }
  const std::vector<std::unique_ptr<Layer>>& layers() const { return layers_; }

  /// Returns the probabilities, and keeps each layer's input for the way back.
  std::span<float> forward(popdist::ConstTensorRefs parameters, const LabelledSamples& samples) {
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
  void backward(std::size_t batch, popdist::ConstTensorRefs parameters, std::span<float> d_output,
                popdist::TensorRefs gradients) {
    for (std::size_t i = layers_.size(); i-- > 0;) {
      std::vector<float>& memory = d_inputs_[i % 2];
      if (i > 0) memory.resize(std::max(memory.size(), inputs_[i].size()));
      const std::span<float> d_input(memory.data(), i > 0 ? inputs_[i].size() : 0);
      layers_[i]->backward(batch, ofLayer(i, parameters), inputs_[i], d_output, ofLayer(i, gradients),
                           d_input);
      d_output = d_input;
    }
  }

 private:
  std::size_t sample_;  ///< pixels of one
  std::size_t convolutions_;
  Loops loops_;
  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<Floats> inputs_;      ///< of each layer, and the last one's output
  std::vector<float> d_inputs_[2];  ///< of a layer and of the one behind it
};

Network::Network(const NetworkShape& shape, Isa isa) {
  useInstructionSet(isa);
  impl_ = std::make_unique<Impl>(shape, loopsOf(isa));
}
Network::~Network() = default;

popdist::train::Parameters Network::parameters() const {
  popdist::train::Parameters parameters;
  for (std::size_t i = 0; i < impl_->layers().size(); ++i) {
    const Layer& layer = *impl_->layers()[i];
    const std::string name = (i < impl_->convolutions() ? "convolution" : "dense") + std::to_string(i + 1);
    parameters.add(name + ".weight", layer.weightShape(), popdist::train::heUniform());
    parameters.add(name + ".bias", {layer.biasCount()});
  }
  return parameters;
}

double Network::flopsPerSample() const {
  double sum = 0;
  for (const auto& layer : impl_->layers()) sum += 2.0 * 3.0 * layer->multiplicationsPerSample();
  return sum;
}

void Network::prepare(std::size_t samples) {
  const popdist::Tensors values(parameters().spec());
  popdist::Tensors gradients(parameters().spec());
  const std::vector<float> features(samples * impl_->inputs());
  const std::vector<std::int32_t> labels(samples);
  accumulateGradients(values, {.features = features, .labels = labels}, 1, gradients.refs());
}

Score Network::evaluate(popdist::ConstTensorRefs parameters, const LabelledSamples& samples) {
  return scoreOf(impl_->forward(parameters, samples), samples.labels);
}

Score Network::accumulateGradients(popdist::ConstTensorRefs parameters, const LabelledSamples& samples,
                                   float factor, popdist::TensorRefs gradients) {
  const std::span<float> probabilities = impl_->forward(parameters, samples);
  const Score score = scoreOf(probabilities, samples.labels);
  // The gradient of softmax and cross-entropy together, in place.
  const std::size_t classes = probabilities.size() / samples.labels.size();
  for (std::size_t sample = 0; sample < samples.labels.size(); ++sample)
    probabilities[sample * classes + static_cast<std::size_t>(samples.labels[sample])] -= 1.0F;
  for (float& each : probabilities) each *= factor;
  impl_->backward(samples.labels.size(), parameters, probabilities, gradients);
  return score;
}
