// SPDX-License-Identifier: Apache-2.0
// The network as the step of a trainer, and what it is tested on.
#pragma once

#include <cstddef>
#include <popdist/popdist.hpp>

#include "isa.h"
#include "network.h"
#include "options.h"

/// The gradient of the mean loss over a replica's samples of an update. Metrics: "loss", summed over samples,
/// and "correct".
class Classifier {
 public:
  Classifier(const TrainingOptions& options, Isa isa);

  popdist::train::Parameters parameters() const { return network_.parameters(); }
  popdist::train::Step step() {
    return [this](const popdist::train::MicroBatch& batch) { run(batch); };
  }
  popdist::train::TrainerOptions trainerOptions() const;

 private:
  void run(const popdist::train::MicroBatch& batch);

  const TrainingOptions& options_;
  Network network_;
};

/// Every image once: where they do not fill a batch, weights say which are there.
struct TestSet {
  TestSet(const popdist::Context& context, const TrainingOptions& options);

  std::size_t samples = 0;
  popdist::Shape image;
  popdist::io::Infeed infeed;

 private:
  TestSet(const popdist::Context& context, popdist::io::Dataset images);
};
