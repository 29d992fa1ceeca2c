// SPDX-License-Identifier: Apache-2.0
#include "popdist/trainer.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "common/base/text.h"
#include "libpopdist/src/tensor/error_edge.h"
#include "libpopdist/src/train/trainer/denormals_in_force.h"
#include "libpopdist/src/train/trainer/description.h"
#include "libpopdist/src/train/trainer/gradient_sums.h"
#include "libpopdist/src/train/trainer/loss_scaler.h"
#include "libpopdist/src/train/trainer/micro_batches.h"
#include "libpopdist/src/train/trainer/saved_state.h"
#include "libpopdist/src/train/trainer/scaling_log.h"
#include "libpopdist/src/train/trainer/size_of_update.h"
#include "libpopdist/src/train/trainer/stage_of_life.h"
#include "libpopdist/src/train/trainer/stopwatch.h"
#include "popdist/denormals.hpp"
#include "popdist/span.hpp"

namespace popdist::train {
namespace {

using pop::scaling::Outside;

std::vector<FlatTensors> forReplicas(const Strategy& strategy, const Spec& spec) {
  std::vector<FlatTensors> all;
  for (int local = 0; local < strategy.numLocalReplicas(); ++local)
    all.emplace_back(strategy.context(), spec);
  return all;
}

std::vector<FlatTensors> onHost(const Strategy& strategy, const Spec& spec) {
  std::vector<FlatTensors> one;
  if (strategy.variablesOnHost()) one.emplace_back(strategy.context(), spec);
  return one;
}

/// Of the gradients' sums, if the arguments are right.
pop::Result<Spec> checkedSums(const Parameters& parameters, const Step& step, const TrainerOptions& options) {
  POP_RETURN_IF_ERROR(checkArguments(parameters, options));
  if (!step) return pop::invalidArgument("there is no step");
  return accumulatorsOf(parameters.spec(), options.accumulation);
}

}  // namespace

class Trainer::Impl {
 public:
  /// Compares what instances were given, then makes it. `count`: micro-batches of an update.
  static std::unique_ptr<Impl> make(Strategy& strategy, Parameters parameters, const Spec& sums,
                                    Optimizer optimizer, TrainerOptions options, int count);

  Impl(Strategy& strategy, Parameters parameters, const Spec& sums, Optimizer optimizer,
       TrainerOptions options, MemoryPlan plan, Facts rules)
      : options_(std::move(options)),
        plan_(std::move(plan)),
        rules_(std::move(rules)),
        log_(strategy, options_.accumulation.count, FlatTensors::bytesOf(sums)),
        strategy_(strategy),
        parameters_(std::move(parameters)),
        values_(forReplicas(strategy, parameters_.spec())),
        host_values_(onHost(strategy, parameters_.spec())),
        sums_(forReplicas(strategy, sums)),
        scaler_(options_.loss_scale),
        update_(strategy.context(), parameters_.spec(), sums, std::move(optimizer),
                {.replicas_per_state = options_.replicas_per_optimizer_state,
                 .skip_not_finite = options_.loss_scale.dynamic,
                 .variables_on_host = strategy.variablesOnHost()}),
        reduction_(strategy.reductionOfParts(sums_, update_.sharing())),
        count_(options_.accumulation.count) {
    if (!host_values_.empty() && update_.canUpdateByParameter())
      updates_by_gradient_ = reduction_->onReduced([this](std::size_t parameter) { updateOne(parameter); });
  }

  void setStep(Step step) {
    micro_batches_ = stepByStep(strategy_, parameters_.spec(), std::move(step), options_, values_, sums_);
  }
  void setPipeline(PipelineProgram program) {
    count_ = static_cast<int>(program.pipeline.gradient_accumulation_count);
    log_.setAccumulation(count_);
    micro_batches_ = byPipelines(strategy_, std::move(program), values_, sums_);
  }

  void initialise(std::uint64_t seed) {
    stage_.check("Trainer.initialise");
    requireSame(strategy_.context(), {denormalsInForce()}, "Trainer.initialise");
    if (strategy_.context().instanceIndex() == 0) parameters_.initialise(values_.front().refs(), seed);
    strategy_.broadcast(values_);
    copyToHost();
    stage_.haveValues();
  }

  Progress run(io::Infeed& infeed, std::uint64_t updates) {
    stage_.checkValues("Trainer.run");
    check(infeed);
    StageOfLife::Run whole(stage_);
    Progress progress = begin();
    const ScalingLog::Run logged(log_, progress, samplesOf(infeed.spec()));
    Stopwatch watch;
    flushes_denormals_ = denormalsAreFlushed();
    for (std::uint64_t i = 0; i < updates; ++i) {
      factor_ = 1 / (divisorOf(options_.gradient_scale, strategy_) * scaler_.scale());
      micro_batches_->accumulate(callOf(infeed, progress, watch), *reduction_);
      if (options_.flops_per_micro_batch > 0)
        strategy_.advanceCompute(options_.flops_per_micro_batch * count_);
      reduction_->wait();
      watch.addTo(progress.seconds.reduction, "reduction");
      if (update()) {
        scaler_.updated();
        ++progress.updates;
        strategy_.advanceStreaming(plan_.streamingTime());
        strategy_.advanceAllGather(values_.front().bytes().size(), options_.replicas_per_optimizer_state);
      } else {
        scaler_.skipped();
        ++progress.skipped;
      }
      ++runs_;
      watch.addTo(progress.seconds.update, "update");
    }
    progress.seconds.all = watch.total();
    progress = finish(std::move(progress));
    whole.done();
    return progress;
  }

  Progress evaluate(io::Infeed& infeed) {
    stage_.checkValues("Trainer.evaluate");
    throwIfError(checkReplicas(strategy_, infeed), "Trainer.evaluate");
    const ScalingLog::Part logged(log_, &Outside::evaluations, "evaluation");
    Progress progress = begin();
    Stopwatch watch;
    micro_batches_->evaluate(callOf(infeed, progress, watch));
    progress.seconds.all = watch.total();
    return finish(std::move(progress));
  }

  void save(Checkpoints& checkpoints, const io::Infeed& infeed) {
    stage_.checkValues("Trainer.save");
    const ScalingLog::Part logged(log_, &Outside::checkpoints, "checkpoint");
    const Context& context = strategy_.context();
    std::vector<Piece> pieces = shareOf(parameterPieces(), context.instanceIndex(), context.numInstances());
    for (Piece& piece : shareOf(update_.state(), update_.group(), update_.groups())) pieces.push_back(piece);
    if (options_.variables != nullptr) {
      for (Piece& piece :
           shareOf(options_.variables->pieces(), context.instanceIndex(), context.numInstances()))
        pieces.push_back(piece);
    }
    checkpoints.save(pieces, positionOf({.updates_done = update_.updatesDone(),
                                         .runs = runs_,
                                         .loss_scale = scaler_.scale(),
                                         .good_updates = scaler_.goodUpdates(),
                                         .data = infeed.position()},
                                        settingWith(infeed)));
  }

  bool resume(Checkpoints& checkpoints, io::Infeed& infeed, bool exactly) {
    stage_.check("Trainer.resume");
    requireSame(strategy_.context(), {denormalsInForce()}, "Trainer.resume");
    std::vector<Piece> pieces = piecesToLoad();
    for (Piece& piece : update_.state()) pieces.push_back(piece);
    std::optional<SavedState> state;
    checkpoints.resume(pieces, [&](const Position& position) {
      pop::Result<SavedState> saved = stateAt(position, settingWith(infeed), exactly);
      throwIfError(saved.status(), "Trainer.resume");
      state = saved.value();
    });
    if (!state) return false;
    loaded();
    update_.setUpdatesDone(state->updates_done);
    runs_ = state->runs;
    scaler_.resume(state->loss_scale, state->good_updates);
    infeed.start(state->data);
    stage_.haveValues();
    return true;
  }

  void load(const Checkpoint& checkpoint) {
    stage_.check("Trainer.load");
    requireSame(strategy_.context(),
                {{.name = "the checkpoint",
                  .text = "step " + std::to_string(checkpoint.position().step) + ", digest " +
                          std::to_string(checkpoint.digest()),
                  .advice = "load the same one on all instances"}},
                "Trainer.load");
    checkpoint.load(piecesToLoad());
    loaded();
    stage_.haveValues();
  }

  Strategy& strategy() { return strategy_; }
  std::vector<FlatTensors>& values() { return values_; }
  TensorRefs valuesOf(int local) {
    if (local < 0 || local >= strategy_.numLocalReplicas())
      throwIfError(
          {pop::Code::kOutOfRange, "there is no replica " + std::to_string(local) + ": this instance has " +
                                       pop::counted(strategy_.numLocalReplicas(), "replica")},
          "Trainer.parametersOf");
    stage_.haveValues();
    return values_[static_cast<std::size_t>(local)].refs();
  }
  int samplesPerUpdate(int micro_batch) const {
    return train::samplesPerUpdate(strategy_, count_, micro_batch);
  }
  WeightUpdate& weightUpdate() { return update_; }
  bool updatesByGradient() const { return updates_by_gradient_; }
  std::uint64_t updates() const { return runs_; }
  double lossScale() const { return scaler_.scale(); }
  const MemoryPlan& plan() const { return plan_; }

 private:
  /// In the thread of the reduction, which may have begun before the program made its guard.
  void updateOne(std::size_t parameter) {
    const Span span("update of a gradient");
    std::optional<FlushDenormals> flush;
    if (flushes_denormals_) flush.emplace();
    update_.applyTo(parameter, sums_.front(), host_values_, factor_);
  }

  /// Or what is left of it when all gradients have come. False: skipped.
  bool update() {
    if (host_values_.empty()) return update_.apply(sums_.front(), values_, factor_);
    if (updates_by_gradient_)
      update_.finish();
    else if (!update_.apply(sums_.front(), host_values_, factor_))
      return false;
    strategy_.load(host_values_.front(), values_);
    return true;
  }

  void copyToHost() {
    const FlatTensors& from = values_.front();
    for (FlatTensors& host : host_values_)
      std::copy(from.bytes().begin(), from.bytes().end(), host.bytes().begin());
  }

  Progress begin() const {
    return {.names = options_.metrics, .sums = std::vector<double>(options_.metrics.size())};
  }

  void copyToOtherReplicas() {
    const std::span<const std::byte> first = values_.front().bytes();
    for (FlatTensors& other : std::span(values_).subspan(1))
      std::copy(first.begin(), first.end(), other.bytes().begin());
  }

  /// Parameters and variables.
  std::vector<Piece> piecesToLoad() {
    std::vector<Piece> pieces = parameterPieces();
    if (options_.variables != nullptr) {
      for (Piece& piece : options_.variables->piecesToLoad()) pieces.push_back(piece);
    }
    return pieces;
  }

  void loaded() {
    copyToOtherReplicas();
    copyToHost();
    if (options_.variables != nullptr) options_.variables->loaded();
  }

  std::vector<Piece> parameterPieces() { return piecesOf(values_.front()); }

  Setting settingWith(const io::Infeed& infeed) const {
    return {.replicas = strategy_.numReplicas(),
            .accumulation = count_,
            .samples = samplesOf(infeed.spec()),
            .rules = rules_};
  }

  /// With other instances once: an all-reduce for each call would cost more than it finds.
  void check(const io::Infeed& infeed) {
    const pop::Status replicas = checkReplicas(strategy_, infeed);
    if (batches_are_same_) return throwIfError(replicas, "Trainer.run");
    requireSound(strategy_.context(), replicas, "Trainer.run");
    requireSame(strategy_.context(), {{.name = "the micro-batch", .text = textOf(infeed.spec())}},
                "Trainer.run");
    batches_are_same_ = true;
  }

  Progress finish(Progress progress) {
    std::vector<double> all = progress.sums;
    all.push_back(static_cast<double>(progress.micro_batches));
    strategy_.reduce(all);
    progress.micro_batches = static_cast<std::uint64_t>(all.back());
    all.pop_back();
    progress.sums = std::move(all);
    return progress;
  }

  Call callOf(io::Infeed& infeed, Progress& progress, Stopwatch& watch) const {
    return {.infeed = infeed,
            .progress = progress,
            .watch = watch,
            .update = runs_,
            .loss_scale = static_cast<float>(scaler_.scale())};
  }

  TrainerOptions options_;
  MemoryPlan plan_;
  Facts rules_;
  ScalingLog log_;  // before all that may not fit into memory
  Strategy& strategy_;
  Parameters parameters_;
  std::vector<FlatTensors> values_;       // of each local replica
  std::vector<FlatTensors> host_values_;  // one, where the strategy has variables on the host
  std::vector<FlatTensors> sums_;
  LossScaler scaler_;
  double factor_ = 1;  // of the gradients' sums
  bool updates_by_gradient_ = false;
  bool flushes_denormals_ = false;
  WeightUpdate update_;
  std::unique_ptr<GradientReduction> reduction_;  // its thread uses what is above
  int count_;                                     // micro-batches of an update
  StageOfLife stage_;
  bool batches_are_same_ = false;
  std::uint64_t runs_ = 0;  // updates, skipped ones included
  std::unique_ptr<MicroBatches> micro_batches_;
};

std::unique_ptr<Trainer::Impl> Trainer::Impl::make(Strategy& strategy, Parameters parameters,
                                                   const Spec& sums, Optimizer optimizer,
                                                   TrainerOptions options, int count) {
  Facts rules = rulesOf(optimizer, sums, options);
  Facts all = argumentsOf(strategy, parameters, options, count);
  all.insert(all.end(), rules.begin(), rules.end());
  requireSame(strategy.context(), all, "Trainer");
  MemoryPlan plan = planOf(strategy, parameters, optimizer, options, count);
  return std::make_unique<Impl>(strategy, std::move(parameters), sums, std::move(optimizer),
                                std::move(options), std::move(plan), std::move(rules));
}

Trainer::Trainer(Strategy& strategy, Parameters parameters, Step step, Optimizer optimizer,
                 TrainerOptions options) {
  const pop::Result<Spec> sums = checkedSums(parameters, step, options);
  requireSound(strategy.context(), sums.status(), "Trainer");
  const int count = options.accumulation.count;
  impl_ = Impl::make(strategy, std::move(parameters), sums.value(), std::move(optimizer), std::move(options),
                     count);
  impl_->setStep(std::move(step));
}

Trainer::Trainer(Strategy& strategy, Parameters parameters, PipelineProgram program, Optimizer optimizer,
                 TrainerOptions options) {
  requireSound(strategy.context(), checkPipeline(parameters, program, options), "Trainer");
  const Spec sums = parameters.spec();
  const auto count = static_cast<int>(program.pipeline.gradient_accumulation_count);
  impl_ = Impl::make(strategy, std::move(parameters), sums, std::move(optimizer), std::move(options), count);
  impl_->setPipeline(std::move(program));
}

Trainer::~Trainer() = default;
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;

void Trainer::initialise(std::uint64_t seed) {
  impl_->initialise(seed);
}
Progress Trainer::run(io::Infeed& infeed, std::uint64_t updates) {
  return impl_->run(infeed, updates);
}
Progress Trainer::evaluate(io::Infeed& infeed) {
  return impl_->evaluate(infeed);
}
void Trainer::save(Checkpoints& checkpoints, const io::Infeed& infeed) {
  impl_->save(checkpoints, infeed);
}
bool Trainer::resume(Checkpoints& checkpoints, io::Infeed& infeed, const ResumeOptions& options) {
  return impl_->resume(checkpoints, infeed, options.exactly);
}
void Trainer::load(const Checkpoint& checkpoint) {
  impl_->load(checkpoint);
}
ConstTensorRefs Trainer::parameters() const {
  return impl_->values().front().refs();
}
TensorRefs Trainer::parametersOf(int local_replica) {
  return impl_->valuesOf(local_replica);
}
std::uint64_t Trainer::updates() const {
  return impl_->updates();
}
std::uint64_t Trainer::updatesDone() const {
  return impl_->weightUpdate().updatesDone();
}
double Trainer::lossScale() const {
  return impl_->lossScale();
}
int Trainer::instances() const {
  return impl_->strategy().numWorkers();
}
int Trainer::samplesPerUpdate(int micro_batch) const {
  return impl_->samplesPerUpdate(micro_batch);
}
WeightUpdate& Trainer::weightUpdate() {
  return impl_->weightUpdate();
}
bool Trainer::updatesByGradient() const {
  return impl_->updatesByGradient();
}
const MemoryPlan& Trainer::memoryPlan() const {
  return impl_->plan();
}

}  // namespace popdist::train
