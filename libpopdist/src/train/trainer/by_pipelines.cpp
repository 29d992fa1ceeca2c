// SPDX-License-Identifier: Apache-2.0
// A pipeline for each replica of the instance, one after the other.
#include <optional>
#include <string>
#include <utility>

#include "libpopdist/src/tensor/error_edge.h"
#include "libpopdist/src/train/trainer/micro_batches.h"

namespace popdist::train {
namespace {

class ByPipelines final : public MicroBatches {
 public:
  ByPipelines(Strategy& strategy, PipelineProgram program, std::vector<FlatTensors>& values,
              std::vector<FlatTensors>& sums)
      : strategy_(strategy), program_(std::move(program)), values_(values), sums_(sums) {
    for (std::size_t local = 0; local < values.size(); ++local) pipelines_.emplace_back(program_.pipeline);
    if (program_.times) time_ = pipelines_.front().simulatedTime(*program_.times);
  }

  void accumulate(const Call& call, GradientReduction& reduction) override {
    for (int local = 0; local < replicas(); ++local) accumulate(local, call, reduction);
  }

  void evaluate(const Call& call) override {
    for (int local = 0; local < replicas(); ++local) evaluate(local, call);
  }

 private:
  int replicas() const { return static_cast<int>(pipelines_.size()); }

  void accumulate(int local, const Call& call, GradientReduction& reduction) {
    const auto at = static_cast<std::size_t>(local);
    pipelines_[at].run(std::as_const(values_[at]).refs(), sums_[at].refs(), feeds(local, call), nothing_,
                       {.first_step = call.update, .loss_scale = call.loss_scale});
    call.progress.micro_batches += static_cast<std::uint64_t>(program_.pipeline.gradient_accumulation_count);
    call.watch.addTo(call.progress.seconds.step, "step");
    for (std::size_t parameter = sums_[at].spec().size(); parameter-- > 0;) reduction.ready(local, parameter);
    if (local == 0 && program_.times) strategy_.advance(time_);  // replicas work side by side
  }

  void evaluate(int local, const Call& call) {
    const std::optional<std::uint64_t> steps = stepsOfEvaluation(call.infeed);
    if (!steps)
      throwIfError(pop::invalidArgument("the infeed does not know how many elements its pass has, and a "
                                        "pipeline must: give it a dataset that is no generator"),
                   "Trainer.evaluate");
    const std::uint64_t taken = call.infeed.position(local).step;
    if (taken >= *steps) return;
    const std::uint64_t left = *steps - taken;
    const auto at = static_cast<std::size_t>(local);
    pipelines_[at].evaluate(std::as_const(values_[at]).refs(), feeds(local, call),
                            static_cast<std::int64_t>(left), call.update);
    call.progress.micro_batches += left;
    call.watch.addTo(call.progress.seconds.step, "step");
  }

  Feeds feeds(int local, const Call& call) const {
    return {.infeed = &call.infeed,
            .outfeed = program_.outfeed,
            .arguments = program_.arguments,
            .replica = local};
  }

  Strategy& strategy_;
  const PipelineProgram program_;
  std::vector<FlatTensors>& values_;
  std::vector<FlatTensors>& sums_;
  std::vector<Pipeline> pipelines_;
  SimulatedTime time_{0};  // of a run
  const UpdateFunction nothing_ = [](std::uint64_t, ConstTensorRefs) {};
};

}  // namespace

pop::Status checkPipeline(const Parameters& parameters, const PipelineProgram& program,
                          const TrainerOptions& options) {
  const GradientAccumulation& accumulation = options.accumulation;
  if (accumulation.count != 1 || accumulation.reduction != Reduction::kSum || accumulation.type.index() != 0)
    return pop::invalidArgument(
        "TrainerOptions::accumulation is set, and so is the pipeline's gradient_accumulation_count (" +
        std::to_string(program.pipeline.gradient_accumulation_count) +
        "): a pipeline adds up the gradients of its micro-batches itself; leave the trainer's alone");
  if (program.pipeline.parameters != parameters.spec())
    return pop::invalidArgument("the pipeline's parameters are " + textOf(program.pipeline.parameters) +
                                ", the trainer's " + textOf(parameters.spec()));
  if (program.times && options.flops_per_micro_batch > 0)
    return pop::invalidArgument(
        "PipelineProgram::times and TrainerOptions::flops_per_micro_batch are both set, and each advances "
        "the "
        "Pod's clock by all of an update's computation: leave one unset");
  if (!options.metrics.empty())
    return pop::invalidArgument(
        "a pipeline gives its metrics by its outfeed: leave TrainerOptions::metrics empty");
  return pop::Status();
}

std::unique_ptr<MicroBatches> byPipelines(Strategy& strategy, PipelineProgram program,
                                          std::vector<FlatTensors>& values, std::vector<FlatTensors>& sums) {
  return std::make_unique<ByPipelines>(strategy, std::move(program), values, sums);
}

}  // namespace popdist::train
