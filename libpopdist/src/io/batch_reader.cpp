// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/io/batch_reader.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "common/base/check.h"
#include "common/base/text.h"

namespace popdist::io {
namespace {

pop::Status validate(const Dataset* dataset, const InfeedOptions& options) {
  if (dataset == nullptr) return pop::invalidArgument("no dataset");
  if (options.replicas < 1) {
    return pop::invalidArgument("replicas is " + std::to_string(options.replicas) + ", expected 1 or more");
  }
  if (options.replica < 0 || options.replica >= options.replicas) {
    return pop::invalidArgument("replica is " + std::to_string(options.replica) + ", expected 0 to " +
                                std::to_string(options.replicas - 1) + " (replicas - 1)");
  }
  if (options.batch_size < 1) return pop::invalidArgument("batch_size is 0, expected 1 or more");
  if (dataset->size() > std::numeric_limits<std::uint32_t>::max()) {
    return pop::invalidArgument("the dataset has " + std::to_string(dataset->size()) +
                                " samples; at most 4294967295 can be sharded");
  }
  if (dataset->featureCount() < 1) return pop::invalidArgument("the dataset's samples have no features");
  // No batch is larger than the dataset; its vectors must be addressable before anything indexes into them.
  const std::size_t samples_max = std::max<std::size_t>(1, std::min(options.batch_size, dataset->size()));
  if (dataset->featureCount() > std::vector<float>().max_size() / samples_max) {
    return pop::invalidArgument("a batch of " + std::to_string(samples_max) + " samples x " +
                                std::to_string(dataset->featureCount()) +
                                " features exceeds the address space: lower batch_size");
  }
  return {};
}

pop::Status expectOneStep(const Shard& shard) {
  if (trainingSteps(shard) > 0) return {};
  return pop::invalidArgument("one training step takes " + pop::counted(shard.replicas, "replica") + " x " +
                              std::to_string(shard.batch_size) + " samples, but the dataset has " +
                              std::to_string(shard.samples) + ": lower batch_size or replicas");
}

}  // namespace

pop::Result<BatchReader> BatchReader::create(std::shared_ptr<const Dataset> dataset,
                                             const InfeedOptions& options) {
  POP_RETURN_IF_ERROR(validate(dataset.get(), options));
  BatchReader reader(std::move(dataset), options);
  if (options.sharding == Sharding::kTraining) POP_RETURN_IF_ERROR(expectOneStep(reader.shard_));
  return reader;
}

BatchReader::BatchReader(std::shared_ptr<const Dataset> dataset, const InfeedOptions& options)
    : dataset_(std::move(dataset)),
      shard_{dataset_->size(), options.replicas, options.replica, options.batch_size},
      seed_(options.seed),
      sharding_(options.sharding) {}

std::size_t BatchReader::stepsPerEpoch() const {
  return sharding_ == Sharding::kTraining ? trainingSteps(shard_) : evaluationSteps(shard_);
}

void BatchReader::startEpoch(std::uint64_t epoch) {
  if (sharding_ == Sharding::kTraining) {
    // Those of the last epoch give their memory back before the next ones take theirs; {} would keep it.
    samples_ = std::vector<std::uint32_t>();
    samples_ = trainingSamples(shard_, seed_, epoch);
  } else if (samples_.empty()) {
    samples_ = evaluationSamples(shard_);
  }
  epoch_ = epoch;
  step_ = 0;
}

void BatchReader::read(Batch& batch, const std::function<bool()>& cancelled) {
  POP_CHECK(step_ < stepsPerEpoch());
  const std::size_t begin = step_ * shard_.batch_size;
  const auto samples =
      std::span(samples_).subspan(begin, std::min(shard_.batch_size, samples_.size() - begin));
  const std::size_t feature_count = dataset_->featureCount();
  batch.epoch = epoch_;
  batch.step = step_++;
  batch.features.resize(samples.size() * feature_count);
  batch.labels.resize(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (cancelled()) return;
    dataset_->read(samples[i], std::span(batch.features).subspan(i * feature_count, feature_count),
                   batch.labels[i]);
  }
}

}  // namespace popdist::io
