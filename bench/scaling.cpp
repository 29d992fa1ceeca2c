// SPDX-License-Identifier: Apache-2.0
// A training to look at with poprun --scaling-report: a linear model of 256 inputs and outputs, whose step is
// arithmetic and whose input is made by the host.
//   POPDIST_SCALING_LOG=runs.jsonl poprun --num-instances 2 bench_scaling [accumulation [updates]]
//   poprun --scaling-report runs.jsonl
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "popdist/popdist.hpp"

namespace {

namespace io = popdist::io;
namespace train = popdist::train;
using popdist::Context;
using popdist::Type;

constexpr std::size_t kWidth = 256, kMicroBatch = 32, kSamples = 1 << 14;

io::Dataset samples() {
  return io::Dataset::fromTensors(popdist::Tensors(popdist::Tensor::full("seed", {1}, 0.5F)))
      .repeat(kSamples)
      .map({{"x", Type::kFloat, {kWidth}}}, [](popdist::ConstTensorRefs from, popdist::TensorRefs to) {
        const auto x = to.get<float>("x");
        for (std::size_t i = 0; i < kWidth; ++i)
          x[i] = std::sin(from.get<float>("seed")[0] * static_cast<float>(i));
      });
}

/// The outputs shall be the inputs: half of the squared distance, and its gradient.
double lossAndGradients(std::span<const float> xs, std::span<const float> w, std::span<float> dw) {
  double loss = 0;
  for (std::size_t sample = 0; sample < xs.size(); sample += kWidth) {
    const auto x = xs.subspan(sample, kWidth);
    for (std::size_t row = 0; row < kWidth; ++row) {
      float y = 0;
      for (std::size_t i = 0; i < kWidth; ++i) y += w[row * kWidth + i] * x[i];
      const float error = y - x[row];
      loss += 0.5 * static_cast<double>(error) * static_cast<double>(error) / kMicroBatch;
      for (std::size_t i = 0; i < kWidth; ++i) dw[row * kWidth + i] += error * x[i] / kMicroBatch;
    }
  }
  return loss;
}

}  // namespace

int main(int argc, char** argv) {
  const int accumulation = argc > 1 ? std::atoi(argv[1]) : 4;
  const std::uint64_t updates = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 200;
  Context& context = Context::fromEnvironment();
  train::PopDistStrategy strategy(context);
  train::Parameters parameters;
  parameters.add("w", {kWidth, kWidth}, train::heUniform());
  train::Trainer trainer(
      strategy, parameters,
      [](const train::MicroBatch& batch) {
        batch.metrics[0] += lossAndGradients(batch.input.get<float>("x"), batch.parameters.get<float>("w"),
                                             batch.gradients.get<float>("w"));
      },
      train::adam({.rate = 1e-3}),
      {.accumulation = {.count = accumulation, .reduction = train::Reduction::kMean}, .metrics = {"loss"}});
  trainer.initialise(42);
  io::Infeed infeed(samples().batch(kMicroBatch).forReplicas(io::InputContext::of(context)).repeat(),
                    {.replicas = context.numLocalReplicas()});
  train::ProgressReport report(
      context, {.updates = updates, .samples_per_update = trainer.samplesPerUpdate(kMicroBatch)});
  while (trainer.updates() < updates) report.add(trainer.run(infeed, 10));
  return 0;
}
