// SPDX-License-Identifier: Apache-2.0
#include "stages.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "loops.h"
#include "products.h"

namespace {

namespace train = popdist::train;
using popdist::Type;

constexpr std::array<std::size_t, 5> kWidths{28 * 28, 256, 256, 128, 10};

/// One layer: where its parameters are, and how wide it is.
struct Layer {
  std::size_t weights, bias;  ///< positions of the parameters
  std::string input;          ///< tensor
  std::size_t samples, inputs, units;
  Loops loops;

  int rows() const { return static_cast<int>(samples); }
  int in() const { return static_cast<int>(inputs); }
  int out() const { return static_cast<int>(units); }

  void forward(train::Io& io, float* sums) const {
    multiply({.rows = rows(), .columns = out(), .inner = in()}, io.in(input).data(), io.par(weights).data(),
             sums);
  }
  /// `d_output`: with respect to the sums, after bias.
  void backward(train::Io& io, const float* d_output) const {
    multiply({.rows = in(), .columns = out(), .inner = rows(), .a = Transposed::kYes, .adds = true},
             io.in(input).data(), d_output, io.gradPar(weights).data());
    loops.addColumnSums(io.gradPar(bias).data(), d_output, samples, units);
    const auto d_input = io.gradIn(input);
    if (!d_input.empty())
      multiply({.rows = rows(), .columns = in(), .inner = out(), .b = Transposed::kYes}, d_output,
               io.par(weights).data(), d_input.data());
  }
};

train::Stage hidden(const std::string& name, const Layer& layer) {
  return {.name = name,
          .parameters = {layer.weights, layer.bias},
          .outputs = {{"y", Type::kFloat, {layer.samples, layer.units}},
                      {"label", Type::kInt32, {layer.samples}}},
          .forward =
              [layer](train::Io& io) {
                const auto y = io.out("y");
                layer.forward(io, y.data());
                layer.loops.addBiasRelu(y.data(), io.par(layer.bias).data(), layer.samples, layer.units);
                const auto labels = io.in<std::int32_t>("label");
                std::copy(labels.begin(), labels.end(), io.out<std::int32_t>("label").begin());
              },
          .backward =
              [layer, d_sums = std::vector<float>(layer.samples * layer.units)](train::Io& io) mutable {
                const auto d_y = io.gradOut("y");
                std::copy(d_y.begin(), d_y.end(), d_sums.begin());
                layer.loops.reluBackward(d_sums.data(), io.out("y").data(), d_sums.size());
                layer.backward(io, d_sums.data());
              }};
}

train::Stage classifier(const Layer& layer, float factor) {
  const auto scoreOf = [](train::Io& io, std::size_t samples, std::size_t classes) {
    const auto probabilities = io.saved("probabilities");
    const auto labels = io.in<std::int32_t>("label");
    float loss = 0;
    float correct = 0;
    for (std::size_t i = 0; i < samples; ++i) {
      const auto row = probabilities.subspan(i * classes, classes);
      const auto label = static_cast<std::size_t>(labels[i]);
      loss -= std::log(std::max(row[label], 1e-12F));
      correct += std::max_element(row.begin(), row.end()) - row.begin() == labels[i] ? 1.0F : 0.0F;
    }
    io.out("loss")[0] = loss;
    io.out("correct")[0] = correct;
  };
  return {
      .name = "classifier",
      .parameters = {layer.weights, layer.bias},
      .outputs = {{"loss", Type::kFloat, {}}, {"correct", Type::kFloat, {}}},
      .saved = {{{"probabilities", Type::kFloat, {layer.samples, layer.units}}}},
      .forward =
          [layer, scoreOf](train::Io& io) {
            const auto probabilities = io.saved("probabilities");
            layer.forward(io, probabilities.data());
            layer.loops.addBias(probabilities.data(), io.par(layer.bias).data(), layer.samples, layer.units);
            layer.loops.softmax(probabilities.data(), layer.samples, layer.units);
            scoreOf(io, layer.samples, layer.units);
          },
      .backward =
          [layer, factor, d_sums = std::vector<float>(layer.samples * layer.units)](train::Io& io) mutable {
            const auto probabilities = io.saved("probabilities");
            std::copy(probabilities.begin(), probabilities.end(), d_sums.begin());
            const auto labels = io.in<std::int32_t>("label");
            for (std::size_t i = 0; i < layer.samples; ++i)
              d_sums[i * layer.units + static_cast<std::size_t>(labels[i])] -= 1.0F;
            for (float& each : d_sums) each *= factor;
            layer.backward(io, d_sums.data());
          }};
}

}  // namespace

std::vector<train::Concurrent> fourStages(train::Parameters& parameters, std::size_t samples, float factor,
                                          Isa isa) {
  useInstructionSet(isa);
  std::vector<train::Concurrent> stages;
  for (std::size_t i = 0; i + 1 < kWidths.size(); ++i) {
    const std::string name = "dense" + std::to_string(i + 1);
    const Layer layer{
        .weights = parameters.add(name + ".weight", {kWidths[i], kWidths[i + 1]}, train::heUniform()),
        .bias = parameters.add(name + ".bias", {kWidths[i + 1]}),
        .input = i == 0 ? "image" : "y",
        .samples = samples,
        .inputs = kWidths[i],
        .units = kWidths[i + 1],
        .loops = loopsOf(isa)};
    const bool last = i + 2 == kWidths.size();
    stages.emplace_back(last ? classifier(layer, factor) : hidden(name, layer));
  }
  return stages;
}

train::SimulationOptions timesOfStages(std::size_t samples, double flops_per_s) {
  train::SimulationOptions options;
  for (std::size_t i = 0; i + 1 < kWidths.size(); ++i) {
    const double flops = 2.0 * static_cast<double>(samples * kWidths[i] * kWidths[i + 1]);
    const auto forward = popdist::SimulatedTime(static_cast<std::int64_t>(flops / flops_per_s * 1e12));
    options.stages.push_back({.forward = forward, .backward = 2 * forward});
  }
  return options;
}
