// SPDX-License-Identifier: Apache-2.0
#include "popdist/evaluator.hpp"

#include <optional>
#include <string>

#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/train/agreement/agreement.h"
#include "libpopdist/train/trainer/trainer_impl.h"

namespace popdist::train {
namespace {

pop::Status check(const FollowSpec& spec, int instances) {
  if (spec.infeed == nullptr) return pop::invalidArgument("FollowSpec::infeed is not set");
  if (!spec.is_last)
    return pop::invalidArgument("FollowSpec::is_last is not set: nothing says when the training is over");
  if (instances == 1) return {};
  return pop::failedPrecondition("an evaluator is one instance, and this job has " +
                                 std::to_string(instances));
}

pop::Status noneInTime(const FollowSpec& spec, std::optional<std::uint64_t> newest) {
  return {pop::Code::kDeadlineExceeded,
          (newest ? "no checkpoint after that of step " + std::to_string(*newest) : "no checkpoint") +
              " has come into " + pop::inQuotes(spec.directory.string()) + " within " +
              pop::secondsText(spec.timeout) + " s" +
              ": the training has stopped before its last one, or FollowSpec::timeout is too short"};
}

/// Steps of the checkpoints in `directory`; not empty, if it is OK.
pop::Result<std::vector<std::uint64_t>> stepsIn(const std::filesystem::path& directory) {
  try {
    std::vector<std::uint64_t> steps = checkpointSteps(directory);
    if (steps.empty())
      return pop::Status(pop::Code::kNotFound,
                         "there is no complete checkpoint in " + pop::inQuotes(directory.string()));
    return steps;
  } catch (...) {
    return currentException("the list of checkpoints does not fit", "the file system");
  }
}

std::string textOf(const std::vector<std::uint64_t>& steps) {
  std::vector<std::string> texts;
  for (const std::uint64_t step : steps) texts.push_back(std::to_string(step));
  return pop::join(texts, " ");
}

void evaluate(Trainer& trainer, const Checkpoint& checkpoint, io::Infeed& infeed,
              const Evaluated& evaluated) {
  trainer.load(checkpoint);
  infeed.start();
  const Progress result = trainer.evaluate(infeed);
  if (evaluated) evaluated(checkpoint.position(), result);
}

}  // namespace

std::uint64_t evaluateBeside(Trainer& trainer, const FollowSpec& spec, const Evaluated& evaluated) {
  constexpr const char* kFunction = "evaluateBeside";
  throwIfError(check(spec, trainer.instances()), kFunction);
  std::optional<std::uint64_t> newest;
  for (std::uint64_t evaluations = 1;; ++evaluations) {
    const auto checkpoint = Checkpoint::waitForNewer(spec.directory, newest, spec.timeout);
    if (!checkpoint) throwIfError(noneInTime(spec, newest), kFunction);
    newest = checkpoint->position().step;
    evaluate(trainer, *checkpoint, *spec.infeed, evaluated);
    if (spec.is_last(checkpoint->position())) return evaluations;
  }
}

std::uint64_t evaluateAll(Trainer& trainer, const std::filesystem::path& directory, io::Infeed& infeed,
                          const Evaluated& evaluated) {
  const pop::Result<std::vector<std::uint64_t>> found = stepsIn(directory);
  requireSame(trainer.impl_->strategy().context(), found.status(),
              {{.name = "the steps of the checkpoints in the directory",
                .text = found.ok() ? textOf(found.value()) : "",
                .advice = "name a directory that all instances share, when the training has ended"}},
              "evaluateAll");
  const std::vector<std::uint64_t>& steps = found.value();
  for (const std::uint64_t step : steps)
    evaluate(trainer, Checkpoint::open(directory, step), infeed, evaluated);
  return steps.size();
}

}  // namespace popdist::train
