// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "libpopdist/train/trainer/trainer_impl.h"
#include "popdist/trainer.hpp"

namespace popdist::train {
namespace {

pop::Status checkSpecs(const TrainSpec& train, const EvalSpec& eval) {
  if (train.infeed == nullptr || eval.infeed == nullptr)
    return pop::invalidArgument(std::string(train.infeed == nullptr ? "train" : "eval") +
                                ".infeed is not set");
  if (train.max_updates == 0 || eval.every_updates == 0)
    return pop::invalidArgument("train.max_updates is " + std::to_string(train.max_updates) +
                                ", eval.every_updates " + std::to_string(eval.every_updates) +
                                ", expected 1 or more");
  return pop::Status();
}

bool isDue(std::uint64_t updates, const TrainSpec& train, const EvalSpec& eval) {
  return updates % eval.every_updates == 0 || updates >= train.max_updates;
}

}  // namespace

std::uint64_t trainAndEvaluate(
    Trainer& trainer, Checkpoints& checkpoints, const TrainSpec& train, const EvalSpec& eval,
    std::uint64_t seed,
    const std::function<void(std::uint64_t, const Progress&, const Progress&)>& evaluated) {
  requireSame(trainer.impl_->strategy().context(), checkSpecs(train, eval),
              {{.name = "TrainSpec::max_updates", .text = std::to_string(train.max_updates)},
               {.name = "EvalSpec::every_updates", .text = std::to_string(eval.every_updates)}},
              "trainAndEvaluate");
  const auto evaluate = [&](const Progress* trained) {
    eval.infeed->start();
    const Progress result = trainer.evaluate(*eval.infeed);
    const Progress nothing{.names = result.names, .sums = std::vector<double>(result.names.size())};
    if (evaluated) evaluated(trainer.updates(), trained != nullptr ? *trained : nothing, result);
    checkpoints.setEvaluated(trainer.updates());
  };
  const bool resumed = trainer.resume(checkpoints, *train.infeed);
  if (!resumed) trainer.initialise(seed);
  const std::optional<std::uint64_t> last = checkpoints.evaluated();
  // A later one than there is a checkpoint of: the job has died before that was complete.
  const bool is_evaluated = resumed && last && *last >= trainer.updates();
  if (!is_evaluated && resumed && isDue(trainer.updates(), train, eval))
    evaluate(nullptr);  // the job has died between the checkpoint and the end of its evaluation
  else if (last != trainer.updates())
    checkpoints.setEvaluated(trainer.updates());  // also whatever a training before this one has left
  const std::uint64_t before = trainer.updates();
  while (trainer.updates() < train.max_updates) {
    // To the next multiple, wherever a checkpoint of another rhythm was.
    const std::uint64_t to_multiple = eval.every_updates - trainer.updates() % eval.every_updates;
    const Progress trained =
        trainer.run(*train.infeed, std::min(to_multiple, train.max_updates - trainer.updates()));
    trainer.save(checkpoints, *train.infeed);
    evaluate(&trained);
  }
  checkpoints.wait();
  return trainer.updates() - before;
}

}  // namespace popdist::train
