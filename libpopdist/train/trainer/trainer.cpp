// SPDX-License-Identifier: Apache-2.0
#include "popdist/trainer.hpp"

#include <utility>

#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/train/agreement/agreement.h"
#include "libpopdist/train/trainer/description.h"
#include "libpopdist/train/trainer/gradient_sums.h"
#include "libpopdist/train/trainer/trainer_impl.h"

namespace popdist::train {
namespace {

/// Spec of the gradients' sums, if the arguments are right.
pop::Result<Spec> checkedSums(const Parameters& parameters, const Step& step, const TrainerOptions& options) {
  POP_RETURN_IF_ERROR(checkArguments(parameters, options));
  if (!step) return pop::invalidArgument("there is no step");
  return accumulatorsOf(parameters.spec(), options.accumulation);
}

}  // namespace

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
  requireSame(strategy.context(), checkPipeline(parameters, program, options), factsOf(program.pipeline),
              "Trainer");
  const Spec sums = parameters.spec();
  const auto count = static_cast<int>(program.pipeline.gradient_accumulation_count);
  impl_ = Impl::make(strategy, std::move(parameters), sums, std::move(optimizer), std::move(options), count,
                     program.times);
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
