// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/train/pipeline/interpreter.h"

#include <array>
#include <cstring>

#include "common/base/check.h"
#include "libpopdist/src/reduce/fold.h"
#include "libpopdist/src/tensor/error_edge.h"

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
  const auto stages = static_cast<std::size_t>(schedule.stages());
  ios_.resize(stages);
  values_.resize(model.options.parameters.size());
  grad_par_.resize(stages);
  for (std::size_t i = 0; i < stages; ++i) {
    const int stage = static_cast<int>(i);
    const auto level = static_cast<std::size_t>(schedule.levelOf(stage));
    slots_.push_back(schedule.slots(stage));
    held_.emplace_back(static_cast<std::size_t>(schedule.slots(stage)), -1);
    grad_par_[i] = memory.of(stage).grad_par;
    Io& io = ios_[i];
    io.stage_ = &model.stages[i];
    io.parameters_ = &model.options.parameters;
    io.in_.spec = io.grad_in_.spec = &model.level_inputs[level];
    io.out_.spec = io.grad_out_.spec = &model.stages[i].outputs;
    io.saved_.spec = &model.saved[i];
    io.arguments_ = {&model.options.arguments, memory.arguments()};
    io.grad_in_.data = memory.of(stage).grad_in.data();
    io.grad_par_ = grad_par_[i].data();
    if (!model.training || static_cast<int>(level) + 1 == model.levels()) continue;
    // The next level's first stage has the gradients of all outputs of this one, stage after stage.
    std::size_t before = 0;
    for (int other = model.level_begin[level]; other < stage; ++other)
      before += model.stages[static_cast<std::size_t>(other)].outputs.size();
    io.grad_out_.data = memory.of(model.level_begin[level + 1]).grad_in.data() + before;
  }
}

void Interpreter::run(const Schedule& schedule, const Call& call) {
  last_micro_batch_ = schedule.microBatches() - 1;
  begin(call);
  for (const Action& action : schedule.order()) {
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
        return update();  // of all IPUs: the caller's
    }
  }
}

void Interpreter::begin(const Call& call) {
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
  }
  if (call.gradients == nullptr) return;
  const Spec& parameters = model_.options.parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    std::memset(call.gradients[i], 0, parameters[i].bytes());
  for (std::size_t stage = 0; stage < ios_.size(); ++stage) {
    const std::vector<std::byte*>& partials = memory_.of(static_cast<int>(stage)).grad_par;
    for (std::size_t i = 0; i < partials.size(); ++i) {
      const std::size_t parameter = model_.stages[stage].parameters[i];
      grad_par_[stage][i] = partials[i] == nullptr ? call.gradients[parameter] : partials[i];
      if (partials[i] != nullptr) std::memset(partials[i], 0, parameters[parameter].bytes());
    }
  }
}

void Interpreter::point(Io& io, const Action& action) {
  const StageTables<std::byte*>& tables = memory_.of(action.stage);
  const auto place = static_cast<std::size_t>(placeOf(action.stage, action.micro_batch));
  const int level = places_.levelOf(action.stage);
  const int maker = level == 0 ? 0 : model_.level_begin[static_cast<std::size_t>(level - 1)];
  io.in_.data = memory_.inputs(level, placeOf(maker, action.micro_batch));
  io.out_.data = tables.out[place].data();
  io.saved_.data = tables.saved[place].data();
  io.micro_batch_ = action.micro_batch;
  io.pass_ = action.kind;
  // Whatever the schedule: what is read belongs to the micro-batch that is worked on.
  POP_CHECK(heldBy(maker, action.micro_batch) == action.micro_batch);
  POP_CHECK(heldBy(action.stage, action.micro_batch) == action.micro_batch);
}

void Interpreter::forward(const Action& action) {
  Io& io = ios_[static_cast<std::size_t>(action.stage)];
  point(io, action);
  io.stage_->forward(io);
}

void Interpreter::backward(const Action& action) {
  Io& io = ios_[static_cast<std::size_t>(action.stage)];
  point(io, action);
  clearGradients(action, io);
  io.stage_->backward(io);
  const auto level = static_cast<std::size_t>(places_.levelOf(action.stage));
  if (action.stage + 1 == model_.level_begin[level + 1]) addSideBySide(model_.level_begin[level]);
}

void Interpreter::clearGradients(const Action& action, const Io& io) const {
  const std::vector<std::byte*>& inputs = memory_.of(action.stage).grad_in;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] != nullptr) std::memset(inputs[i], 0, (*io.grad_in_.spec)[i].bytes());
  }
}

// The gradients of a level's inputs are those of its first stage, plus the others' in the order of the
// stages.
void Interpreter::addSideBySide(int first) const {
  const auto level = static_cast<std::size_t>(places_.levelOf(first));
  const std::vector<std::byte*>& to = memory_.of(first).grad_in;
  for (int stage = first + 1; stage < model_.level_begin[level + 1]; ++stage) {
    const std::vector<std::byte*>& from = memory_.of(stage).grad_in;
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (to[i] != nullptr) add(model_.level_inputs[level][i], to[i], from[i]);
    }
  }
}

// Of parameters that several stages share: the first user's lie in the caller's gradients already.
void Interpreter::addPartials() const {
  for (std::size_t stage = 0; stage < ios_.size(); ++stage) {
    const std::vector<std::byte*>& partials = memory_.of(static_cast<int>(stage)).grad_par;
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
