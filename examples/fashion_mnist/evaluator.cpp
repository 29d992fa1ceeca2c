// SPDX-License-Identifier: Apache-2.0
#include "evaluator.h"

#include <cstdio>
#include <stdexcept>

#include "classifier.h"

namespace train = popdist::train;

void evaluateCheckpoints(popdist::Context& context, const TrainingOptions& options) {
  if (options.checkpoints.empty())
    throw std::runtime_error("an evaluator reads what the training saves: give both the same --checkpoints");
  train::SingleStrategy strategy(context);  // no Pod: it computes on the CPU
  Classifier classifier(options, options.isa.value_or(bestIsa()));
  TestSet test(context, options);
  train::Trainer trainer(strategy, classifier.parameters(), classifier.step(), train::sgd(0),
                         classifier.trainerOptions());

  const auto epochs = static_cast<std::uint64_t>(options.epochs);
  const auto print = [&](const train::Position& at, const train::Progress& result) {
    const auto samples = static_cast<double>(test.samples);
    std::printf("epoch %d/%d: test loss %.4f, test accuracy %.2f %%\n", static_cast<int>(at.epoch) + 1,
                options.epochs, result.sum("loss") / samples, 100.0 * result.sum("correct") / samples);
    std::fflush(stdout);
  };
  if (options.evaluate) {
    train::evaluateAll(trainer, options.checkpoints, test.infeed, print);
    return;
  }
  // The training saves at the end of each epoch.
  train::evaluateBeside(trainer,
                        {.directory = options.checkpoints,
                         .infeed = &test.infeed,
                         .is_last = [&](const train::Position& at) { return at.epoch + 1 >= epochs; }},
                        print);
}
