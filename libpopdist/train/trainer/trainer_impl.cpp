// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/trainer/trainer_impl.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/train/trainer/denormals_in_force.h"
#include "libpopdist/train/trainer/description.h"
#include "libpopdist/train/trainer/size_of_update.h"
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

}  // namespace

std::unique_ptr<Trainer::Impl> Trainer::Impl::make(Strategy& strategy, Parameters parameters,
                                                   const Spec& sums, Optimizer optimizer,
                                                   TrainerOptions options, int count,
                                                   const std::optional<SimulationOptions>& times) {
  Facts rules = rulesOf(parameters, optimizer, sums, options);
  Facts all = argumentsOf(strategy, parameters, options, count, times);
  all.insert(all.end(), rules.begin(), rules.end());
  requireSame(strategy.context(), all, "Trainer");
  MemoryPlan plan = planOf(strategy, parameters, optimizer, options, count);
  return std::make_unique<Impl>(strategy, std::move(parameters), sums, std::move(optimizer),
                                std::move(options), std::move(plan), std::move(rules));
}

Trainer::Impl::Impl(Strategy& strategy, Parameters parameters, const Spec& sums, Optimizer optimizer,
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
      rates_(optimizer),
      update_(strategy.context(), parameters_.spec(), sums, std::move(optimizer),
              {.replicas_per_state = options_.replicas_per_optimizer_state,
               .skip_not_finite = options_.loss_scale.dynamic,
               .variables_on_host = strategy.variablesOnHost()}),
      reduction_(strategy.reductionOfParts(sums_, update_.sharing())),
      count_(options_.accumulation.count) {
  if (!host_values_.empty() && update_.canUpdateByParameter())
    updates_by_gradient_ = reduction_->onReduced([this](std::size_t parameter) { updateOne(parameter); });
}

void Trainer::Impl::setStep(Step step) {
  micro_batches_ = stepByStep(strategy_, parameters_.spec(), std::move(step), options_, values_, sums_);
}

void Trainer::Impl::setPipeline(PipelineProgram program) {
  count_ = static_cast<int>(program.pipeline.gradient_accumulation_count);
  log_.setAccumulation(count_);
  micro_batches_ = byPipelines(strategy_, std::move(program), values_, sums_);
}

void Trainer::Impl::initialise(std::uint64_t seed) {
  given_.close();  // it is overwritten
  meet("Trainer.initialise", {}, [] { return Facts{denormalsInForce()}; });
  together(strategy_.context(), "Trainer.initialise", [&] {
    if (strategy_.context().instanceIndex() == 0) parameters_.initialise(values_.front().refs(), seed);
    strategy_.broadcast(values_);
  });
  copyToHost();
  stage_.haveValues();
}

Progress Trainer::Impl::run(io::Infeed& infeed, std::uint64_t updates) {
  meet("Trainer.run", readyFor(infeed), [&] {
    Facts facts = dataFacts(infeed);
    facts.push_back({.name = "the number of updates", .text = std::to_string(updates)});
    facts.push_back(rates_.fact(update_.updatesDone()));
    facts.push_back(denormalsInForce());
    return facts;
  });
  StageOfLife::Run whole(stage_);
  Progress progress = begin();
  together(strategy_.context(), "Trainer.run",
           [&] { progress = train(infeed, updates, std::move(progress)); });
  whole.done();
  return progress;
}

Progress Trainer::Impl::train(io::Infeed& infeed, std::uint64_t updates, Progress progress) {
  const ScalingLog::Run logged(log_, progress, samplesOf(infeed.spec()));
  Stopwatch watch;
  flushes_denormals_ = denormalsAreFlushed();
  for (std::uint64_t i = 0; i < updates; ++i) {
    factor_ = 1 / (divisorOf(options_.gradient_scale, strategy_) * scaler_.scale());
    micro_batches_->accumulate(callOf(infeed, progress, watch), *reduction_);
    if (options_.flops_per_micro_batch > 0) strategy_.advanceCompute(options_.flops_per_micro_batch * count_);
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
  return finish(std::move(progress), true);
}

Progress Trainer::Impl::evaluate(io::Infeed& infeed) {
  pop::Status mine = readyFor(infeed);
  if (mine.ok()) mine = micro_batches_->checkEvaluation(infeed);
  meet("Trainer.evaluate", mine, [&] { return dataFacts(infeed); });
  const ScalingLog::Part logged(log_, &Outside::evaluations, "evaluation");
  StageOfLife::Run whole(stage_);
  if (strategy_.numWorkers() == 1) whole.done();  // alone, nothing has parted
  Progress progress = begin();
  together(strategy_.context(), "Trainer.evaluate", [&] {
    Stopwatch watch;
    micro_batches_->evaluate(callOf(infeed, progress, watch));
    progress.seconds.all = watch.total();
    progress = finish(std::move(progress), false);
  });
  whole.done();
  return progress;
}

void Trainer::Impl::save(Checkpoints& checkpoints, const io::Infeed& infeed) {
  meet("Trainer.save", stage_.statusOfValues(), [&] {
    const io::Position at = infeed.position();
    return Facts{{.name = "the infeed's position",
                  .text = "epoch " + std::to_string(at.epoch) + ", step " + std::to_string(at.step),
                  .advice = "give save() the infeed that run() takes from"}};
  });
  const ScalingLog::Part logged(log_, &Outside::checkpoints, "checkpoint");
  const Context& context = strategy_.context();
  std::vector<Piece> pieces =
      shareOf(piecesOf(values_.front()), context.instanceIndex(), context.numInstances());
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

bool Trainer::Impl::resume(Checkpoints& checkpoints, io::Infeed& infeed, bool exactly) {
  meet("Trainer.resume", {}, [&] {
    return Facts{denormalsInForce(),
                 {.name = "ResumeOptions::exactly", .text = exactly ? "true" : "false"},
                 {.name = "the micro-batch", .text = textOf(infeed.spec())}};
  });
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

void Trainer::Impl::load(const Checkpoint& checkpoint) {
  given_.close();  // it is overwritten
  meet("Trainer.load", {}, [&] {
    return Facts{{.name = "the checkpoint",
                  .text = "step " + std::to_string(checkpoint.position().step) + ", digest " +
                          std::to_string(checkpoint.digest()),
                  .advice = "load the same one on all instances"}};
  });
  pop::Status read;
  try {
    checkpoint.load(piecesToLoad());
  } catch (...) {
    read = currentException("a checkpoint does not fit", "a checkpoint");
  }
  requireSound(strategy_.context(), read, "Trainer.load");
  loaded();
  stage_.haveValues();
}

TensorRefs Trainer::Impl::valuesOf(int local) {
  if (local < 0 || local >= strategy_.numLocalReplicas())
    throwIfError(
        {pop::Code::kOutOfRange, "there is no replica " + std::to_string(local) + ": this instance has " +
                                     pop::counted(strategy_.numLocalReplicas(), "replica")},
        "Trainer.parametersOf");
  stage_.haveValues();
  if (strategy_.numWorkers() > 1) given_.open(values_);
  return values_[static_cast<std::size_t>(local)].refs();
}

int Trainer::Impl::samplesPerUpdate(int micro_batch) const {
  return train::samplesPerUpdate(strategy_, count_, micro_batch);
}

/// In the thread of the reduction, which may have begun before the program made its guard.
void Trainer::Impl::updateOne(std::size_t parameter) {
  const Span span("update of a gradient");
  std::optional<FlushDenormals> flush;
  if (flushes_denormals_) flush.emplace();
  update_.applyTo(parameter, sums_.front(), host_values_, factor_);
}

/// Or what is left of it when all gradients have come. False: skipped.
bool Trainer::Impl::update() {
  if (host_values_.empty()) return update_.apply(sums_.front(), values_, factor_);
  if (updates_by_gradient_)
    update_.finish();
  else if (!update_.apply(sums_.front(), host_values_, factor_))
    return false;
  strategy_.load(host_values_.front(), values_);
  return true;
}

void Trainer::Impl::copyToHost() {
  const FlatTensors& from = values_.front();
  for (FlatTensors& host : host_values_)
    std::copy(from.bytes().begin(), from.bytes().end(), host.bytes().begin());
}

Progress Trainer::Impl::begin() const {
  return {.names = options_.metrics, .sums = std::vector<double>(options_.metrics.size())};
}

void Trainer::Impl::copyToOtherReplicas() {
  const std::span<const std::byte> first = values_.front().bytes();
  for (FlatTensors& other : std::span(values_).subspan(1))
    std::copy(first.begin(), first.end(), other.bytes().begin());
}

/// Parameters and variables.
std::vector<Piece> Trainer::Impl::piecesToLoad() {
  std::vector<Piece> pieces = piecesOf(values_.front());
  if (options_.variables != nullptr) {
    for (Piece& piece : options_.variables->piecesToLoad()) pieces.push_back(piece);
  }
  return pieces;
}

void Trainer::Impl::loaded() {
  copyToOtherReplicas();
  copyToHost();
  if (options_.variables != nullptr) options_.variables->loaded();
}

Setting Trainer::Impl::settingWith(const io::Infeed& infeed) const {
  return {.replicas = strategy_.numReplicas(),
          .accumulation = count_,
          .samples = samplesOf(infeed.spec()),
          .rules = rules_};
}

/// At the beginning of each call: what all instances must have in common. `facts` cost nothing where one is
/// alone.
void Trainer::Impl::meet(const char* function, const pop::Status& mine, const std::function<Facts()>& facts) {
  throwIfError(stage_.status(), function);  // if it has failed, then on all instances
  if (strategy_.numWorkers() == 1) return throwIfError(mine, function);
  Facts all = mine.ok() ? facts() : Facts();
  if (mine.ok()) {
    all.push_back({.name = "the number of updates so far",
                   .text = std::to_string(runs_),
                   .advice = "call run() equally often on all instances"});
    all.push_back({.name = "the values set by parametersOf()",
                   .text = given_.text(values_),
                   .advice = "set the same values on all instances, or initialise()"});
  }
  requireSame(strategy_.context(), mine, all, function);
  given_.close();
}

pop::Status Trainer::Impl::readyFor(const io::Infeed& infeed) const {
  POP_RETURN_IF_ERROR(stage_.statusOfValues());
  return checkReplicas(strategy_, infeed);
}

Facts Trainer::Impl::dataFacts(const io::Infeed& infeed) const {
  return {{.name = "the micro-batch", .text = textOf(infeed.spec())},
          {.name = "the data that instances share",
           .text = infeed.shared(strategy_.numWorkers(), strategy_.numReplicas())}};
}

/// `has_trained`: compares rates, too.
Progress Trainer::Impl::finish(Progress progress, bool has_trained) {
  std::vector<double> all = progress.sums;
  all.push_back(static_cast<double>(progress.micro_batches));
  if (has_trained) rates_.addTo(all, update_.updatesDone());
  strategy_.reduce(all);
  if (has_trained) rates_.takeFrom(all, strategy_.numWorkers(), update_.updatesDone());
  progress.micro_batches = static_cast<std::uint64_t>(all.back());
  all.pop_back();
  progress.sums = std::move(all);
  return progress;
}

Call Trainer::Impl::callOf(io::Infeed& infeed, Progress& progress, Stopwatch& watch) const {
  return {.infeed = infeed,
          .progress = progress,
          .watch = watch,
          .update = runs_,
          .loss_scale = static_cast<float>(scaler_.scale())};
}

}  // namespace popdist::train
