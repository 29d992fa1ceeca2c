// SPDX-License-Identifier: Apache-2.0
// A model of a line, y = 3 x0 - 2 x1 + 1, and its training: the same for every strategy.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <popdist/popdist.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

inline constexpr std::size_t kSamples = 960;
inline constexpr std::size_t kGlobalBatch = 48;  // so that results hardly depend on the number of replicas
inline constexpr std::uint64_t kUpdates = 200;

inline popdist::io::Dataset samples() {
  popdist::Tensor x({"x", popdist::Type::kFloat, {kSamples, 2}});
  popdist::Tensor y({"y", popdist::Type::kFloat, {kSamples}});
  for (std::size_t i = 0; i < kSamples; ++i) {
    const float x0 = x.as<float>()[2 * i] = std::sin(0.7F * static_cast<float>(i));
    const float x1 = x.as<float>()[2 * i + 1] = std::cos(1.3F * static_cast<float>(i));
    y.as<float>()[i] = 3 * x0 - 2 * x1 + 1;
  }
  return popdist::io::Dataset::fromSlices(popdist::Tensors(std::move(x), std::move(y)));
}

/// Adds the gradient of the mean squared error to `gradient`, and returns the error.
inline double addGradient(const popdist::Tensors& batch, std::span<const float> weights,
                          std::span<float> gradient) {
  const auto x = batch.get<float>("x");
  const auto y = batch.get<float>("y");
  double loss = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const float error = weights[0] * x[2 * i] + weights[1] * x[2 * i + 1] + weights[2] - y[i];
    const float d_error = 2 * error / static_cast<float>(y.size());
    gradient[0] += d_error * x[2 * i];
    gradient[1] += d_error * x[2 * i + 1];
    gradient[2] += d_error;
    loss += static_cast<double>(error) * static_cast<double>(error) / static_cast<double>(y.size());
  }
  return loss;
}

inline popdist::io::Infeed feed(const popdist::Context& context) {
  const auto replicas = static_cast<std::size_t>(context.numTotalReplicas());
  if (replicas > kGlobalBatch)
    throw std::runtime_error(std::to_string(replicas) + " replicas are more than the " +
                             std::to_string(kGlobalBatch) + " samples of a step");
  return popdist::io::Infeed(samples()
                                 .shuffle(42)
                                 .batch(kGlobalBatch / replicas)
                                 .forReplicas(popdist::io::InputContext::of(context))
                                 .repeat(),
                             {.replicas = context.numLocalReplicas()});
}

inline void print(const popdist::Context& context, std::span<const float> weights) {
  std::printf("instance %d of %d: y = %.3f x0 %+.3f x1 %+.3f\n", context.instanceIndex(),
              context.numInstances(), static_cast<double>(weights[0]), static_cast<double>(weights[1]),
              static_cast<double>(weights[2]));
}

inline void fit(popdist::train::Strategy& strategy) {
  namespace train = popdist::train;
  train::Parameters parameters;
  parameters.add("line", {3}, train::normal(0, 1));
  train::Trainer trainer(strategy, parameters,
                         [](const train::MicroBatch& batch) {
                           batch.metrics[0] += addGradient(batch.input, batch.parameters.get<float>("line"),
                                                           batch.gradients.get<float>("line"));
                         },
                         train::sgd(0.2), {.metrics = {"loss"}});
  trainer.initialise(42);
  popdist::io::Infeed infeed = feed(strategy.context());
  trainer.run(infeed, kUpdates);
  print(strategy.context(), trainer.parameters().get<float>("line"));
}
