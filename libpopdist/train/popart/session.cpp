// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/internal/own_calls.h"
#include "libpopdist/train/popart/session_impl.h"
#include "libpopdist/train/popart/session_options.h"
#include "libpopdist/train/trainer/denormals_in_force.h"

namespace popdist::popart {
namespace {

pop::Status check(const Model& model, Mode mode) {
  if (model.stages.empty()) return pop::invalidArgument("the model has no stage");
  for (const Stage& stage : model.stages) {
    const bool lacks_backward = mode == Mode::kTraining && !stage.backward;
    if (stage.forward && !lacks_backward) continue;
    return pop::invalidArgument("stage " + pop::inQuotes(stage.name) + " has no function " +
                                (stage.forward ? "backward, which training needs" : "forward"));
  }
  return {};
}

void copy(ConstTensorRefs from, TensorRefs to) {
  for (std::size_t i = 0; i < from.size(); ++i)
    std::copy(from.bytes(i).begin(), from.bytes(i).end(), to.bytes(i).begin());
}

/// SessionOptions says it for micro-batches and replicas at once; over processes it is always the mean.
train::GradientScale scaleOf(train::Reduction reduction) {
  return reduction == train::Reduction::kSum ? train::GradientScale::kMeanOfWorkers
                                             : train::GradientScale::kMeanOfReplicas;
}

}  // namespace

Session::Impl::Impl(Context& context, Model model, DataFlow data_flow, const SessionOptions& options,
                    Mode mode, std::uint64_t seed)
    : context_(context),
      model_(std::move(model)),
      data_flow_(std::move(data_flow)),
      options_(options),
      mode_(mode),
      counts_{.batches = data_flow_.batches_per_step,
              .accumulation = mode == Mode::kTraining ? options.accumulation_factor : 1,
              .replicas = context.numLocalReplicas()} {
  throwIfError(popart::check(options, context.numLocalReplicas()), "Session");
  throwIfError(check(model_, mode), "Session");
  throwIfError(popart::check(data_flow_, model_.values), "Session");
  for (int replica = 0; replica < counts_.replicas; ++replica) values_.emplace_back(model_.values);
  own_weights_.emplace(model_.weights.spec());
  model_.weights.initialise(own_weights_->refs(), seed);
}

void Session::Impl::insertHostAllReduce(train::Optimizer optimizer) {
  constexpr const char* kFunction = "DistributedOptimizer.insertHostAllReduce";
  if (trainer_) throwIfError(pop::failedPrecondition("the session has one already"), kFunction);
  internal::prepareOwnCalls(context_);
  train::requireSame(context_,
                     {train::denormalsInForce(),
                      {.name = "SessionOptions", .text = textOf(options_)},
                      {.name = "batches_per_step", .text = std::to_string(data_flow_.batches_per_step)}},
                     kFunction);
  const train::Reduction reduction = options_.accumulation_and_replication_reduction;
  if (!strategy_) strategy_.emplace(context_);
  trainer_.emplace(
      *strategy_, model_.weights, [this](const train::MicroBatch& batch) { step(batch); },
      std::move(optimizer),
      train::TrainerOptions{.accumulation = {.count = counts_.accumulation, .reduction = reduction},
                            .gradient_scale = scaleOf(reduction)});
  const Tensors weights = *std::exchange(own_weights_, std::nullopt);
  setWeights(weights);
}

void Session::Impl::setWeights(ConstTensorRefs weights) {
  if (weights.spec() != model_.weights.spec())
    throwIfError(pop::invalidArgument("the weights are " + textOf(weights.spec()) + ", the model's " +
                                      textOf(model_.weights.spec())),
                 "Session.setWeights");
  has_roots_weights_ = false;
  if (own_weights_) return copy(weights, own_weights_->refs());
  for (int replica = 0; replica < counts_.replicas; ++replica) copy(weights, trainer_->parametersOf(replica));
}

ConstTensorRefs Session::Impl::weights() const {
  return own_weights_ ? own_weights_->refs() : trainer_->parameters();
}

void Session::Impl::broadcastWeights(int root_rank) {
  constexpr const char* kFunction = "broadcastWeights";
  if (isTraining() && !trainer_)
    throwIfError(
        pop::failedPrecondition(
            "the session has no all-reduce yet: DistributedOptimizer::insertHostAllReduce() comes first"),
        kFunction);
  pop::Status mine;
  if (root_rank < 0 || root_rank >= context_.numInstances())
    mine = pop::invalidArgument("root_rank is " + std::to_string(root_rank) + ", and there are ranks 0 to " +
                                std::to_string(context_.numInstances() - 1));
  if (!isTraining()) internal::prepareOwnCalls(context_);
  train::requireSame(context_, mine, {{.name = "root_rank", .text = std::to_string(root_rank)}}, kFunction);
  Tensors all(model_.weights.spec());
  copy(weights(), all.refs());
  for (std::size_t i = 0; i < all.size(); ++i)
    internal::ownCommunicator(context_).broadcast(all.at(i).bytes().data(), all.at(i).bytes().size(),
                                                  Type::kUint8, root_rank);
  setWeights(all);
  has_roots_weights_ = true;
}

pop::Status Session::Impl::readyToTrain() const {
  if (!trainer_)
    return pop::failedPrecondition(
        "the session has no optimizer: hvd::DistributedOptimizer(optimizer, session, options), then "
        "insertHostAllReduce()");
  if (context_.numInstances() > 1 && !has_roots_weights_)
    return pop::failedPrecondition(
        "each process has weights of its own: hvd::broadcastWeights(session) makes them the same");
  return {};
}

Tensors Session::Impl::run(io::Infeed& infeed) {
  if (isTraining() && !trainer_) throwIfError(readyToTrain(), "Session.run");
  if (isTraining()) train::requireSound(context_, readyToTrain(), "Session.run");
  anchors_.emplace(data_flow_, model_.values, counts_);
  if (isTraining())
    train(infeed);
  else
    infer(infeed);
  return anchors_->result();
}

void Session::Impl::train(io::Infeed& infeed) {
  first_update_ = trainer_->updates();
  trainer_->run(infeed, static_cast<std::uint64_t>(counts_.batches));
}

void Session::Impl::computeForward(const Batch& batch) const {
  for (const Stage& stage : model_.stages) stage.forward(batch);
}

void Session::Impl::step(const train::MicroBatch& batch) {
  Tensors& values = values_[static_cast<std::size_t>(batch.local_replica)];
  const Batch of_stages{batch.input, batch.parameters, values.refs(), batch.gradients};
  computeForward(of_stages);
  for (auto stage = model_.stages.rbegin(); stage != model_.stages.rend(); ++stage)
    stage->backward(of_stages);
  anchors_->take(values, static_cast<int>(batch.update - first_update_), batch.index, batch.local_replica);
}

void Session::Impl::infer(io::Infeed& infeed) {
  Tensors no_gradients(Spec{});
  for (int batch = 0; batch < counts_.batches; ++batch) {
    for (int replica = 0; replica < counts_.replicas; ++replica) {
      const Tensors* const input = infeed.next(replica);
      if (input == nullptr)
        throwIfError(
            {pop::Code::kOutOfRange, "the infeed has no element for batch " + std::to_string(batch + 1) +
                                         " of " + std::to_string(counts_.batches) + ": repeat() the dataset"},
            "Session.run");
      Tensors& values = values_[static_cast<std::size_t>(replica)];
      computeForward({*input, weights(), values.refs(), no_gradients.refs()});
      anchors_->take(values, batch, 0, replica);
    }
  }
}

Session::Session(Context& context, Model model, DataFlow data_flow, const SessionOptions& options, Mode mode,
                 std::uint64_t seed)
    : impl_(std::make_unique<Impl>(context, std::move(model), std::move(data_flow), options, mode, seed)) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

Tensors Session::run(io::Infeed& infeed) {
  return impl_->run(infeed);
}
ConstTensorRefs Session::weights() const {
  return impl_->weights();
}
void Session::setWeights(ConstTensorRefs weights) {
  impl_->setWeights(weights);
}

}  // namespace popdist::popart
