// SPDX-License-Identifier: Apache-2.0
// A training that rows make calls of.
#pragma once

#include <cstdint>
#include <memory>

#include "popdist/trainer.hpp"
#include "tests/unit/libpopdist/train/regression.h"

namespace popdist::testing {

/// A trainer that has values, and what its calls are given.
struct StepTraining {
  explicit StepTraining(Context& job)
      : context(job),
        strategy(train::strategyNamed("horovod", job)),
        rate(std::make_shared<double>(0.1)),
        trainer(*strategy, train::regression::parameters(), [](const train::MicroBatch&) {},
                train::sgd(train::LearningRate([at = rate](std::uint64_t) { return *at; })),
                {.metrics = {"loss"}}),
        infeed(feed(2, 1)) {
    trainer.initialise(1);
  }

  io::Infeed feed(std::size_t rows, std::uint64_t seed, std::uint64_t elements = 96) const {
    return io::Infeed(train::regression::samples().take(elements).shuffle(seed).batch(rows).forReplicas(
        io::InputContext::of(context)));
  }

  Context& context;
  std::unique_ptr<train::Strategy> strategy;
  std::shared_ptr<double> rate;
  train::Trainer trainer;
  io::Infeed infeed;
};

}  // namespace popdist::testing
