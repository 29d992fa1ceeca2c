// SPDX-License-Identifier: Apache-2.0
#include "classifier.h"

#include <algorithm>
#include <utility>

#include "data.h"

namespace {

namespace io = popdist::io;
namespace train = popdist::train;

constexpr std::size_t kTestBatch = 250;

/// The images of a batch that are there come first; the weights of a padded batch say which.
LabelledSamples samplesOf(const popdist::Tensors& batch) {
  const auto images = batch.get<float>(0);
  const auto labels = batch.get<std::int32_t>(1);
  if (batch.size() < 3) return {.features = images, .labels = labels};
  const auto weights = batch.get<float>(io::kWeightTensor);
  const auto there = static_cast<std::size_t>(std::count(weights.begin(), weights.end(), 1.0F));
  return {.features = images.first(images.size() / labels.size() * there), .labels = labels.first(there)};
}

}  // namespace

Classifier::Classifier(const TrainingOptions& options, Isa isa)
    : options_(options), network_(options.model, isa) {
  network_.prepare(static_cast<std::size_t>(options.micro_batch));
}

train::TrainerOptions Classifier::trainerOptions() const {
  return {.accumulation = {.count = options_.accumulation},
          .metrics = {"loss", "correct"},
          .flops_per_micro_batch = network_.flopsPerSample() * options_.micro_batch};
}

void Classifier::run(const train::MicroBatch& batch) {
  const LabelledSamples samples = samplesOf(batch.input);
  if (samples.labels.empty()) return;
  const float factor = 1.0F / static_cast<float>(options_.micro_batch * options_.accumulation);
  const Score score = batch.training
                          ? network_.accumulateGradients(batch.parameters, samples, factor, batch.gradients)
                          : network_.evaluate(batch.parameters, samples);
  batch.metrics[0] += score.loss_sum;
  batch.metrics[1] += static_cast<double>(score.correct);
}

TestSet::TestSet(const popdist::Context& context, const TrainingOptions& options)
    : TestSet(context, readPart(options.data, "t10k", static_cast<int>(options.model.classes()))) {}

TestSet::TestSet(const popdist::Context& context, io::Dataset images)
    : samples(*images.size()),
      image(images.spec().at(0).shape),
      infeed(feedReplicas(context, std::move(images).batch(kTestBatch, io::Remainder::kPadWithWeights))) {}
