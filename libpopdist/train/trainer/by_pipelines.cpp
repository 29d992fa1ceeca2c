// SPDX-License-Identifier: Apache-2.0
// A pipeline for each replica of the instance, side by side.
#include <optional>
#include <string>
#include <utility>

#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/train/pipeline/side_by_side.h"
#include "libpopdist/train/trainer/description.h"
#include "libpopdist/train/trainer/micro_batches.h"

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
    detail::SideBySide::run(replicas(call), nothing_,
                            {.first_step = call.update, .loss_scale = call.loss_scale});
    call.progress.micro_batches +=
        pipelines_.size() * static_cast<std::uint64_t>(program_.pipeline.gradient_accumulation_count);
    call.watch.addTo(call.progress.seconds.step, "step");
    for (std::size_t at = 0; at < sums_.size(); ++at)
      for (std::size_t parameter = sums_[at].spec().size(); parameter-- > 0;)
        reduction.ready(static_cast<int>(at), parameter);
    if (program_.times) strategy_.advance(time_);
  }

  pop::Status checkEvaluation(const io::Infeed& infeed) const override {
    if (infeed.steps()) return checkEnd(infeed);
    return pop::invalidArgument(
        "the infeed does not know how many elements its pass has, and a pipeline must: give it a dataset "
        "that is "
        "no generator");
  }

  void evaluate(const Call& call) override {
    const std::uint64_t steps = *call.infeed.steps();
    const std::uint64_t taken = call.infeed.position().step;  // by each replica
    if (taken >= steps) return;
    detail::SideBySide::evaluate(replicas(call), static_cast<std::int64_t>(steps - taken), call.update);
    call.progress.micro_batches += pipelines_.size() * (steps - taken);
    call.watch.addTo(call.progress.seconds.step, "step");
  }

 private:
  std::span<const detail::OfReplica> replicas(const Call& call) {
    replicas_.clear();
    for (std::size_t at = 0; at < pipelines_.size(); ++at)
      replicas_.push_back({pipelines_[at],
                           std::as_const(values_[at]).refs(),
                           sums_[at].refs(),
                           {.infeed = &call.infeed,
                            .outfeed = program_.outfeed,
                            .arguments = program_.arguments,
                            .replica = static_cast<int>(at)}});
    return replicas_;
  }

  Strategy& strategy_;
  const PipelineProgram program_;
  std::vector<FlatTensors>& values_;
  std::vector<FlatTensors>& sums_;
  std::vector<Pipeline> pipelines_;
  std::vector<detail::OfReplica> replicas_;  // those of the call that is under way
  SimulatedTime time_{0};                    // a run's
  const UpdateFunction nothing_ = [](std::uint64_t, ConstTensorRefs) {};
};

}  // namespace

pop::Status checkPipeline(const Parameters& parameters, const PipelineProgram& program,
                          const TrainerOptions& options) {
  POP_RETURN_IF_ERROR(checkArguments(parameters, options));
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
