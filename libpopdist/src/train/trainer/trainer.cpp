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
#include "libpopdist/src/train/trainer/gradient_sums.h"
#include "libpopdist/src/train/trainer/loss_scaler.h"
#include "libpopdist/src/train/trainer/micro_batches.h"
#include "libpopdist/src/train/trainer/saved_state.h"
#include "libpopdist/src/train/trainer/scaling_log.h"
#include "libpopdist/src/train/trainer/stopwatch.h"
#include "popdist/denormals.hpp"
#include "popdist/span.hpp"

namespace popdist::train {
namespace {

using pop::scaling::Outside;

pop::Status check(const Parameters& parameters, const TrainerOptions& options) {
  if (parameters.size() == 0) return pop::invalidArgument("there are no parameters");
  if (options.accumulation.count < 1)
    return pop::invalidArgument("accumulation.count is " + std::to_string(options.accumulation.count) +
                                ", expected 1 or more");
  const LossScale& scale = options.loss_scale;
  if (!(scale.initial > 0) || !(scale.growth >= 1) || !(scale.backoff > 0 && scale.backoff <= 1) ||
      scale.growth_interval < 1)
    return pop::invalidArgument(
        "loss_scale has initial " + pop::numberText(scale.initial) + ", growth " +
        pop::numberText(scale.growth) + ", backoff " + pop::numberText(scale.backoff) +
        " and growth_interval " + std::to_string(scale.growth_interval) +
        ", expected initial above 0, growth of at least 1, backoff in (0, 1] and an interval of at least 1");
  return pop::Status();
}

double divisorOf(GradientScale scale, const Strategy& strategy) {
  switch (scale) {
    case GradientScale::kMeanOfReplicas:
      return strategy.numReplicas();
    case GradientScale::kMeanOfWorkers:
      return strategy.numWorkers();
    case GradientScale::kSum:
      break;
  }
  return 1;
}

/// Of this training, whose device takes whatever it keeps.
MemoryPlan planOf(const Strategy& strategy, const Parameters& parameters, const Optimizer& optimizer,
                  const TrainerOptions& options, int micro_batches) {
  MemoryPlanOptions plan = options.memory;
  plan.accumulation = options.accumulation;
  plan.accumulation.count = std::max(1, micro_batches);
  plan.replicas = strategy.numReplicas();
  plan.replicas_per_state = options.replicas_per_optimizer_state;
  plan.variables_on_host = strategy.variablesOnHost();
  plan.ipus_per_replica = strategy.context().numIpusPerReplica();
  plan.in_processor_bytes = plan.streaming_bytes = std::numeric_limits<std::uint64_t>::max();
  return planMemory(parameters, optimizer, plan);
}

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

}  // namespace

double Progress::sum(std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return sums[static_cast<std::size_t>(found - names.begin())];
  throw popdist_error(ErrorCode::kNotFound,
                      "there is no metric " + pop::inQuotes(name) + "; there " +
                          (names.empty() ? "are none" : "is " + pop::join(names, ", ")));
}

double Progress::meanOfMicroBatches(std::string_view name) const {
  return sum(name) / static_cast<double>(micro_batches);
}

class Trainer::Impl {
 public:
  Impl(Strategy& strategy, Parameters parameters, const Spec& sums, Optimizer optimizer,
       TrainerOptions options, MemoryPlan plan)
      : options_(std::move(options)),
        plan_(std::move(plan)),
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
    requireSameDenormals(strategy_.context(), "Trainer.initialise");
    if (strategy_.context().instanceIndex() == 0) parameters_.initialise(values_.front().refs(), seed);
    strategy_.broadcast(values_);
    copyToHost();
  }

  Progress run(io::Infeed& infeed, std::uint64_t updates) {
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
    return finish(std::move(progress));
  }

  Progress evaluate(io::Infeed& infeed) {
    const ScalingLog::Part logged(log_, &Outside::evaluations, "evaluation");
    Progress progress = begin();
    Stopwatch watch;
    micro_batches_->evaluate(callOf(infeed, progress, watch));
    progress.seconds.all = watch.total();
    return finish(std::move(progress));
  }

  void save(Checkpoints& checkpoints, const io::Infeed& infeed) {
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
    requireSameDenormals(strategy_.context(), "Trainer.resume");
    std::vector<Piece> pieces = parameterPieces();
    for (Piece& piece : update_.state()) pieces.push_back(piece);
    if (options_.variables != nullptr) {
      for (Piece& piece : options_.variables->piecesToLoad()) pieces.push_back(piece);
    }
    std::optional<SavedState> state;
    checkpoints.resume(pieces, [&](const Position& position) {
      pop::Result<SavedState> saved = stateAt(position, settingWith(infeed), exactly);
      throwIfError(saved.status(), "Trainer.resume");
      state = saved.value();
    });
    if (!state) return false;
    copyToOtherReplicas();
    copyToHost();
    if (options_.variables != nullptr) options_.variables->loaded();
    update_.setUpdatesDone(state->updates_done);
    runs_ = state->runs;
    scaler_.resume(state->loss_scale, state->good_updates);
    infeed.start(state->data);
    return true;
  }

  void load(const Checkpoint& checkpoint) {
    checkpoint.load(parameterPieces());
    copyToOtherReplicas();
    copyToHost();
  }

  Strategy& strategy() { return strategy_; }
  std::vector<FlatTensors>& values() { return values_; }
  WeightUpdate& weightUpdate() { return update_; }
  bool updatesByGradient() const { return updates_by_gradient_; }
  std::uint64_t updates() const { return runs_; }
  double lossScale() const { return scaler_.scale(); }
  int count() const { return count_; }
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

  /// Whole tensors, as all replicas have them.
  std::vector<Piece> parameterPieces() {
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const TensorSpec& spec = parameters_.spec()[i];
      pieces.push_back({.name = spec.name,
                        .type = spec.type,
                        .shape = spec.shape,
                        .bytes = values_.front().refs().bytes(i)});
    }
    return pieces;
  }

  Setting settingWith(const io::Infeed& infeed) const {
    return {.replicas = strategy_.numReplicas(), .accumulation = count_, .samples = samplesOf(infeed.spec())};
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
  std::uint64_t runs_ = 0;                        // updates, skipped ones included
  std::unique_ptr<MicroBatches> micro_batches_;
};

Trainer::Trainer(Strategy& strategy, Parameters parameters, Step step, Optimizer optimizer,
                 TrainerOptions options) {
  throwIfError(check(parameters, options), "Trainer");
  if (!step) throwIfError(pop::invalidArgument("there is no step"), "Trainer");
  const pop::Result<Spec> sums = accumulatorsOf(parameters.spec(), options.accumulation);
  throwIfError(sums.status(), "Trainer");
  MemoryPlan plan = planOf(strategy, parameters, optimizer, options, options.accumulation.count);
  impl_ = std::make_unique<Impl>(strategy, std::move(parameters), sums.value(), std::move(optimizer),
                                 std::move(options), std::move(plan));
  impl_->setStep(std::move(step));
}

Trainer::Trainer(Strategy& strategy, Parameters parameters, PipelineProgram program, Optimizer optimizer,
                 TrainerOptions options) {
  throwIfError(check(parameters, options), "Trainer");
  throwIfError(checkPipeline(parameters, program, options), "Trainer");
  const Spec sums = parameters.spec();
  MemoryPlan plan = planOf(strategy, parameters, optimizer, options,
                           static_cast<int>(program.pipeline.gradient_accumulation_count));
  impl_ = std::make_unique<Impl>(strategy, std::move(parameters), sums, std::move(optimizer),
                                 std::move(options), std::move(plan));
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
  return impl_->values().at(static_cast<std::size_t>(local_replica)).refs();
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
  return micro_batch * impl_->count() * impl_->strategy().numReplicas();
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
