// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/train/trainer/gradient_sums.h"
#include "libpopdist/train/trainer/micro_batches.h"

namespace popdist::train {
namespace {

class StepByStep final : public MicroBatches {
 public:
  StepByStep(Strategy& strategy, const Spec& parameters, Step step, const TrainerOptions& options,
             std::vector<FlatTensors>& values, std::vector<FlatTensors>& sums)
      : strategy_(strategy),
        parameters_(parameters),
        step_(std::move(step)),
        count_(options.accumulation.count),
        values_(values),
        sums_(sums),
        missing_(sums.size(), std::vector<bool>(parameters.size())) {
    for (FlatTensors& each : sums)
      accumulators_.emplace_back(strategy.context(), parameters, options.accumulation, each);
  }

  void accumulate(const Call& call, GradientReduction& reduction) override {
    reduction_ = &reduction;
    for (std::vector<bool>& each : missing_) each.assign(each.size(), true);
    for (int index = 0; index < count_; ++index)
      for (local_ = 0; local_ < replicas(); ++local_) accumulate(call, index);
  }

  pop::Status checkEvaluation(const io::Infeed& infeed) const override { return checkEnd(infeed); }

  void evaluate(const Call& call) override {
    for (bool some = true; some;) {
      some = false;
      for (local_ = 0; local_ < replicas(); ++local_) some |= evaluateOne(call);
    }
  }

 private:
  int replicas() const { return static_cast<int>(accumulators_.size()); }

  /// One micro-batch of replica local_.
  void accumulate(const Call& call, int index) {
    const auto at = static_cast<std::size_t>(local_);
    GradientSums& sums = accumulators_[at];
    const Tensors* const input = call.infeed.next(local_);
    if (input == nullptr) failWithoutInput(call, index);
    call.watch.addTo(call.progress.seconds.input, "input");
    const bool last = index + 1 == count_;
    // A gradient that is still to be folded is not final when the step has made it.
    step(*input, index, sums.begin(index), call, true, last && sums.direct() ? ready_ : nothing_);
    sums.end(index);
    ++call.progress.micro_batches;
    call.watch.addTo(call.progress.seconds.step, "step");
    for (std::size_t parameter = last ? missing_[at].size() : 0; parameter-- > 0;)
      if (missing_[at][parameter]) reduction_->ready(local_, parameter);
  }

  /// False: there was none.
  bool evaluateOne(const Call& call) {
    const Tensors* const input = call.infeed.next(local_);
    if (input == nullptr) return false;
    call.watch.addTo(call.progress.seconds.input, "input");
    step(*input, 0, gradientsOfEvaluation(), call, false, nothing_);
    ++call.progress.micro_batches;
    call.watch.addTo(call.progress.seconds.step, "step");
    return true;
  }

  /// Gradients that are not read. They have the parameters' types, for which a step is written.
  TensorRefs gradientsOfEvaluation() {
    FlatTensors& sums = sums_[static_cast<std::size_t>(local_)];
    if (sums.spec() == parameters_) return sums.refs();
    if (!unread_) unread_.emplace(strategy_.context(), parameters_);
    return unread_->refs();
  }

  void step(const Tensors& input, int index, TensorRefs gradients, const Call& call, bool training,
            const std::function<void(std::size_t)>& ready) {
    step_({.input = input,
           .parameters = std::as_const(values_[static_cast<std::size_t>(local_)]).refs(),
           .gradients = gradients,
           .metrics = call.progress.sums,
           .replica = strategy_.firstReplica() + local_,
           .local_replica = local_,
           .update = call.update,
           .index = index,
           .training = training,
           .loss_scale = call.loss_scale,
           .ready = ready});
  }

  void ready(std::size_t parameter) {
    std::vector<bool>& missing = missing_[static_cast<std::size_t>(local_)];
    if (parameter >= missing.size())
      throwIfError({pop::Code::kOutOfRange, "there is no parameter " + std::to_string(parameter) +
                                                ": there are " + std::to_string(missing.size())},
                   "MicroBatch.ready");
    if (!missing[parameter])
      throwIfError(
          {pop::Code::kFailedPrecondition,
           "the gradient of " + pop::inQuotes(parameters_[parameter].name) + " is ready twice in one update"},
          "MicroBatch.ready");
    missing[parameter] = false;
    reduction_->ready(local_, parameter);
  }

  void failWithoutInput(const Call& call, int index) const {
    throwIfError({pop::Code::kOutOfRange, "the infeed has no element for micro-batch " +
                                              std::to_string(index + 1) + " of " + std::to_string(count_) +
                                              " of update " + std::to_string(call.update + 1) +
                                              ": repeat() the dataset, or run fewer updates"},
                 "Trainer.run");
  }

  Strategy& strategy_;
  const Spec parameters_;
  const Step step_;
  const int count_;
  std::vector<FlatTensors>& values_;
  std::vector<FlatTensors>& sums_;
  std::vector<GradientSums> accumulators_;
  std::optional<FlatTensors> unread_;       // if the sums have other types than the parameters
  int local_ = 0;                           // the replica whose micro-batch runs
  std::vector<std::vector<bool>> missing_;  // by replica: parameters whose gradients are not final
  GradientReduction* reduction_ = nullptr;
  const std::function<void(std::size_t)> ready_ = [this](std::size_t parameter) { ready(parameter); };
  const std::function<void(std::size_t)> nothing_ = [](std::size_t) {};
};

}  // namespace

pop::Status checkEnd(const io::Infeed& infeed) {
  if (infeed.steps() != io::Dataset::kEndless) return {};
  return pop::invalidArgument(
      "the infeed's pass never ends, and an evaluation takes all of it: give it a dataset without repeat(), "
      "or "
      "one that repeats a number of times");
}

std::unique_ptr<MicroBatches> stepByStep(Strategy& strategy, const Spec& parameters, Step step,
                                         const TrainerOptions& options, std::vector<FlatTensors>& values,
                                         std::vector<FlatTensors>& sums) {
  return std::make_unique<StepByStep>(strategy, parameters, std::move(step), options, values, sums);
}

}  // namespace popdist::train
