// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/pipeline/interpreter.h"

#include <array>
#include <cstring>

#include "common/base/check.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/internal/fold.h"

namespace popdist::train::detail {
namespace {

/// to += from
void add(const TensorSpec& tensor, std::byte* to, const std::byte* from) {
  const std::array<void* const, 1> target = {to};
  const std::array<const void* const, 2> sources = {to, from};
  reduce::fold({.op = Operator::kSum, .type = tensor.type}, target, sources, tensor.elements());
}

}  // namespace

Interpreter::Interpreter(const Model& model, const Schedule& schedule, const Memory& memory)
    : model_(model), places_(schedule), memory_(memory) {
  ios_.resize(model.parts.size());
  grad_out_begin_.resize(model.parts.size());
  values_.resize(model.options.parameters.size());
  for (int stage = 0; stage < schedule.stages(); ++stage) {
    slots_.push_back(schedule.slots(stage));
    held_.emplace_back(static_cast<std::size_t>(schedule.slots(stage)), -1);
    grad_par_.push_back(model.training ? memory.gradPar(stage) : std::vector<std::byte*>());
  }
  for (int part = 0; part < static_cast<int>(ios_.size()); ++part) connect(part);
}

// Sets the tensors that stay the same in all calls.
void Interpreter::connect(int at) {
  const auto i = static_cast<std::size_t>(at);
  const StagePart& part = model_.parts[i];
  const auto stage = static_cast<std::size_t>(part.stage);
  Io& io = ios_[i];
  io.stage_ = &model_.stages[stage];
  io.parameters_ = &model_.options.parameters;
  io.in_.spec = io.grad_in_.spec = &part.inputs;
  io.out_.spec = io.grad_out_.spec = &part.segment.outputs;
  io.saved_.spec = &part.saved;
  io.arguments_ = {&model_.options.arguments, memory_.arguments()};
  io.grad_par_ = grad_par_[stage].data();
  if (!part.is_last) return;
  // The next level's first stage has the gradients of all outputs of this one, stage after stage.
  const auto level = static_cast<std::size_t>(places_.levelOf(part.stage));
  for (int other = model_.level_begin[level]; other < part.stage; ++other)
    grad_out_begin_[i] += model_.stages[static_cast<std::size_t>(other)].outputs.size();
}

bool Interpreter::act(const Action& action) {
  switch (action.kind) {
    case ActionKind::kForward:
      if (action.stage == 0) fetch(action);
      heldBy(action.stage, action.micro_batch) = action.micro_batch;
      forward(action);
      if (action.stage + 1 == places_.stages()) send(action);
      break;
    case ActionKind::kRecompute:
      forward(action);
      break;
    case ActionKind::kBackward:
      backward(action);
      break;
    case ActionKind::kUpdate:
      update();  // updates all IPUs: the caller's
      return false;
  }
  return true;
}

void Interpreter::begin(const Schedule& schedule, const Call& call) {
  last_micro_batch_ = schedule.microBatches() - 1;
  call_ = &call;
  for (std::size_t i = 0; i < values_.size(); ++i)
    values_[i] = const_cast<std::byte*>(call.values.data()[i]);  // Io gives them as constant
  for (std::size_t i = 0; i < model_.options.arguments.size(); ++i) {
    const std::span<const std::byte> from = call.feeds->arguments->at(i).bytes();
    std::memcpy(memory_.arguments()[i], from.data(), from.size());
  }
  for (Io& io : ios_) {
    io.values_ = values_.data();
    io.step_ = call.step;
    io.replica_ = call.feeds->replica;
    io.training_ = call.gradients != nullptr;
    io.loss_scale_ = call.loss_scale;
  }
  if (call.gradients == nullptr) return;
  const Spec& parameters = model_.options.parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    std::memset(call.gradients[i], 0, parameters[i].bytes());
  for (std::size_t stage = 0; stage < grad_par_.size(); ++stage) {
    const std::vector<std::byte*>& partials = memory_.gradPar(static_cast<int>(stage));
    for (std::size_t i = 0; i < partials.size(); ++i) {
      const std::size_t parameter = model_.stages[stage].parameters[i];
      grad_par_[stage][i] = partials[i] == nullptr ? call.gradients[parameter] : partials[i];
      if (partials[i] != nullptr) std::memset(partials[i], 0, parameters[parameter].bytes());
    }
  }
}

void Interpreter::point(int at, const Action& action) {
  const StagePart& part = model_.parts[static_cast<std::size_t>(at)];
  Io& io = ios_[static_cast<std::size_t>(at)];
  const PartTables<std::byte*>& tables = memory_.of(at);
  const auto place = static_cast<std::size_t>(placeOf(action.stage, action.micro_batch));
  const std::size_t gradient_place = gradientPlaceOf(action.micro_batch);
  const auto level = static_cast<std::size_t>(places_.levelOf(action.stage));
  const int maker = level == 0 ? 0 : model_.level_begin[level - 1];
  io.in_.data = part.is_first ? memory_.inputs(static_cast<int>(level), placeOf(maker, action.micro_batch))
                              : memory_.of(at - 1).out[place].data();
  io.out_.data = tables.out[place].data();
  io.saved_.data = tables.saved[place].data();
  io.micro_batch_ = action.micro_batch;
  io.pass_ = action.kind;
  const bool backward = action.kind == ActionKind::kBackward;
  const std::vector<StageOptions>& options = backward
                                                 ? model_.options.backward_propagation_stages_poplar_options
                                                 : model_.options.forward_propagation_stages_poplar_options;
  io.options_ = options.empty() ? nullptr : &options[static_cast<std::size_t>(action.stage)];
  // Whatever the schedule: what is read belongs to the micro-batch that is worked on.
  POP_CHECK(heldBy(maker, action.micro_batch) == action.micro_batch);
  POP_CHECK(heldBy(action.stage, action.micro_batch) == action.micro_batch);
  if (!backward) return;
  io.grad_in_.data = tables.grad_in[gradient_place].data();
  const bool is_end = part.is_last && static_cast<int>(level) + 1 == model_.levels();
  if (is_end) return;
  const int next = part.is_last ? model_.firstPartOf(model_.level_begin[level + 1]) : at + 1;
  io.grad_out_.data =
      memory_.of(next).grad_in[gradient_place].data() + grad_out_begin_[static_cast<std::size_t>(at)];
}

std::pair<int, int> Interpreter::partsOf(const Action& action) const {
  const int first = model_.firstPartOf(action.stage);
  if (action.segment < 0) return {first, model_.endOfParts(action.stage)};
  return {first + action.segment, first + action.segment + 1};
}

void Interpreter::forward(const Action& action) {
  const auto [first, end] = partsOf(action);
  for (int part = first; part < end; ++part) {
    point(part, action);
    model_.parts[static_cast<std::size_t>(part)].segment.forward(ios_[static_cast<std::size_t>(part)]);
  }
}

void Interpreter::backward(const Action& action) {
  const auto [first, end] = partsOf(action);
  for (int part = end - 1; part >= first; --part) {
    point(part, action);
    clearGradients(part, action);
    model_.parts[static_cast<std::size_t>(part)].segment.backward(ios_[static_cast<std::size_t>(part)]);
  }
  const auto level = static_cast<std::size_t>(places_.levelOf(action.stage));
  if (action.segment <= 0 && action.stage + 1 == model_.level_begin[level + 1])
    addSideBySide(model_.level_begin[level], action.micro_batch);
}

void Interpreter::clearGradients(int at, const Action& action) const {
  const std::vector<std::byte*>& inputs = memory_.of(at).grad_in[gradientPlaceOf(action.micro_batch)];
  const Spec& specs = model_.parts[static_cast<std::size_t>(at)].inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] != nullptr) std::memset(inputs[i], 0, specs[i].bytes());
  }
}

// The gradients of a level's inputs are those of its first stage, plus the others' in the order of the
// stages.
void Interpreter::addSideBySide(int first, int micro_batch) const {
  const auto level = static_cast<std::size_t>(places_.levelOf(first));
  const std::size_t place = gradientPlaceOf(micro_batch);
  const std::vector<std::byte*>& to = memory_.of(model_.firstPartOf(first)).grad_in[place];
  for (int stage = first + 1; stage < model_.level_begin[level + 1]; ++stage) {
    const std::vector<std::byte*>& from = memory_.of(model_.firstPartOf(stage)).grad_in[place];
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (to[i] != nullptr) add(model_.level_inputs[level][i], to[i], from[i]);
    }
  }
}

// Adds gradients of parameters that several stages share: the first user's lie in the caller's gradients
// already.
void Interpreter::addPartials() const {
  for (std::size_t stage = 0; stage < grad_par_.size(); ++stage) {
    const std::vector<std::byte*>& partials = memory_.gradPar(static_cast<int>(stage));
    for (std::size_t i = 0; i < partials.size(); ++i) {
      const std::size_t parameter = model_.stages[stage].parameters[i];
      if (partials[i] != nullptr)
        add(model_.options.parameters[parameter], call_->gradients[parameter], partials[i]);
    }
  }
}

void Interpreter::update() {
  addPartials();
  const int last_level_stage = model_.level_begin[static_cast<std::size_t>(model_.levels() - 1)];
  (*call_->update)(call_->step,
                   ConstTensorRefs(TensorRefs(
                       model_.outputs, memory_.outputs(placeOf(last_level_stage, last_micro_batch_)))));
}

void Interpreter::fetch(const Action& action) {
  const std::size_t tensors = model_.options.inputs.size();
  if (tensors == 0) return;
  const Tensors* element = call_->feeds->infeed->next(call_->feeds->replica);
  if (element == nullptr)
    throwIfError({pop::Code::kOutOfRange,
                  "the infeed has no element for micro-batch " + std::to_string(action.micro_batch) + " of " +
                      std::to_string(last_micro_batch_ + 1) + " in step " + std::to_string(call_->step) +
                      ": repeat() the dataset, or lower the number of micro-batches"},
                 "Pipeline");
  std::byte* const* to = memory_.inputs(0, placeOf(0, action.micro_batch));
  for (std::size_t i = 0; i < tensors; ++i) {
    const std::span<const std::byte> from = element->at(i).bytes();
    std::memcpy(to[i], from.data(), from.size());
  }
}

void Interpreter::send(const Action& action) {
  if (model_.sent.empty()) return;
  std::byte* const* from = memory_.sent(placeOf(action.stage, action.micro_batch));
  call_->feeds->outfeed->enqueue(ConstTensorRefs(TensorRefs(model_.sent, from)), call_->feeds->replica);
}

}  // namespace popdist::train::detail
