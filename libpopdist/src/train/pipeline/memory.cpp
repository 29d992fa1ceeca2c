// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/train/pipeline/memory.h"

#include <algorithm>
#include <map>
#include <set>

#include "common/base/text.h"
#include "popdist/error.hpp"

namespace popdist::train {
namespace {

constexpr std::size_t kAlignment = 64;

class Planner {
 public:
  Planner(const Model& model, const Schedule& schedule, bool recompute)
      : model_(model), schedule_(schedule), recompute_(recompute) {}

  Layout plan() {
    const std::size_t arguments = model_.options.arguments.size();
    const Spec& first = model_.level_inputs.front();
    const Spec inputs(first.begin(), first.end() - static_cast<std::ptrdiff_t>(arguments));
    for (int place = 0; place < schedule_.slots(0); ++place)
      layout_.offsets.inputs.push_back(reserve(inputs));
    for (int stage = 0; stage < schedule_.stages(); ++stage) addActivations(stage);
    addScratch();
    layout_.stored_bytes = layout_.bytes;
    layout_.offsets.arguments = reserve(model_.options.arguments);
    for (int stage = 0; model_.training && stage < schedule_.stages(); ++stage) addGradients(stage);
    return std::move(layout_);
  }

 private:
  std::size_t reserve(std::size_t bytes) {
    const std::size_t begin = layout_.bytes;
    std::size_t rounded = 0;
    layout_.overflows = layout_.overflows || __builtin_add_overflow(bytes, kAlignment - 1, &rounded);
    rounded -= rounded % kAlignment;
    layout_.overflows = layout_.overflows || __builtin_add_overflow(begin, rounded, &layout_.bytes);
    return begin;
  }
  std::size_t reserve(const TensorSpec& tensor) { return reserve(tensor.bytes()); }
  std::vector<std::size_t> reserve(const Spec& tensors) {
    std::vector<std::size_t> offsets;
    for (const TensorSpec& tensor : tensors) offsets.push_back(reserve(tensor));
    return offsets;
  }

  const Stage& stageAt(int stage) const { return model_.stages[static_cast<std::size_t>(stage)]; }

  void addActivations(int stage) {
    StageTables<std::size_t> tables;
    for (int place = 0; place < schedule_.slots(stage); ++place) {
      tables.out.push_back(reserve(stageAt(stage).outputs));
      std::vector<std::size_t> saved;
      for (const Saved& one : stageAt(stage).saved)
        saved.push_back(isScratch(one) ? Layout::kNone : reserve(one.tensor));
      tables.saved.push_back(std::move(saved));
    }
    layout_.offsets.stages.push_back(std::move(tables));
  }

  bool isScratch(const Saved& saved) const { return recompute_ && saved.keep == Keep::kRecomputed; }

  // Stages of an IPU use it in turn: a backward comes right after the forward that it reads from.
  void addScratch() {
    std::map<int, std::size_t> begin_of;
    for (int stage = 0; stage < schedule_.stages(); ++stage) begin_of.emplace(schedule_.ipuOf(stage), 0);
    for (auto& [ipu, begin] : begin_of) {
      begin = layout_.bytes;
      std::size_t end = begin;
      for (int stage = 0; stage < schedule_.stages(); ++stage) {
        if (schedule_.ipuOf(stage) != ipu) continue;
        layout_.bytes = begin;
        placeInScratch(stage);
        end = std::max(end, layout_.bytes);
      }
      layout_.bytes = end;
    }
  }

  void placeInScratch(int stage) {
    const std::vector<Saved>& saved = stageAt(stage).saved;
    for (std::size_t i = 0; i < saved.size(); ++i) {
      if (!isScratch(saved[i])) continue;
      const std::size_t offset = reserve(saved[i].tensor);
      for (auto& row : layout_.offsets.stages[static_cast<std::size_t>(stage)].saved) row[i] = offset;
    }
  }

  void addGradients(int stage) {
    StageTables<std::size_t>& tables = layout_.offsets.stages[static_cast<std::size_t>(stage)];
    const int level = schedule_.levelOf(stage);
    for (const TensorSpec& input : model_.level_inputs[static_cast<std::size_t>(level)])
      tables.grad_in.push_back(level > 0 && hasGradient(input.type) ? reserve(input) : Layout::kNone);
    for (const std::size_t parameter : stageAt(stage).parameters) {
      const bool first_user = used_.insert(parameter).second;
      tables.grad_par.push_back(first_user ? Layout::kNone : reserve(model_.options.parameters[parameter]));
    }
  }

  const Model& model_;
  const Schedule& schedule_;
  const bool recompute_;
  std::set<std::size_t> used_;
  Layout layout_;
};

std::vector<std::byte*> addressesOf(const std::vector<std::size_t>& offsets, std::byte* begin) {
  std::vector<std::byte*> addresses;
  for (const std::size_t offset : offsets)
    addresses.push_back(offset == Layout::kNone ? nullptr : begin + offset);
  return addresses;
}

std::vector<std::vector<std::byte*>> addressesOf(const std::vector<std::vector<std::size_t>>& rows,
                                                 std::byte* begin) {
  std::vector<std::vector<std::byte*>> addresses;
  for (const std::vector<std::size_t>& row : rows) addresses.push_back(addressesOf(row, begin));
  return addresses;
}

}  // namespace

Layout layOut(const Model& model, const Schedule& schedule, bool recompute) {
  return Planner(model, schedule, recompute).plan();
}

pop::Result<Memory> Memory::make(const Model& model, const Layout& layout) {
  const std::string what = "the pipeline's activations and gradients";
  if (layout.overflows)
    return pop::Status(pop::Code::kResourceExhausted, what + " are more than can be addressed");
  Memory memory;
  try {
    memory.bytes_.emplace(TensorSpec{"pipeline", Type::kUint8, {layout.bytes + 1}});
  } catch (const popdist_error&) {
    return pop::Status(pop::Code::kResourceExhausted,
                       "no memory for " + pop::sizeText(layout.bytes) + " of " + what +
                           ": recompute, choose the Interleaved schedule, or take smaller micro-batches");
  }
  std::byte* begin = memory.bytes_->bytes().data();
  memory.tables_.inputs = addressesOf(layout.offsets.inputs, begin);
  memory.tables_.arguments = addressesOf(layout.offsets.arguments, begin);
  for (const StageTables<std::size_t>& stage : layout.offsets.stages)
    memory.tables_.stages.push_back({addressesOf(stage.out, begin), addressesOf(stage.saved, begin),
                                     addressesOf(stage.grad_in, begin), addressesOf(stage.grad_par, begin)});
  memory.join(model);
  return memory;
}

void Memory::join(const Model& model) {
  for (std::vector<std::byte*>& row : tables_.inputs)
    row.insert(row.end(), tables_.arguments.begin(), tables_.arguments.end());
  level_inputs_.push_back(tables_.inputs);
  for (int level = 0; level < model.levels(); ++level) {
    std::vector<std::vector<std::byte*>> rows(
        of(model.level_begin[static_cast<std::size_t>(level)]).out.size());
    for (int stage = model.level_begin[static_cast<std::size_t>(level)];
         stage < model.level_begin[static_cast<std::size_t>(level) + 1]; ++stage) {
      for (std::size_t place = 0; place < rows.size(); ++place)
        rows[place].insert(rows[place].end(), of(stage).out[place].begin(), of(stage).out[place].end());
    }
    level_inputs_.push_back(std::move(rows));
  }
  outputs_ = std::move(level_inputs_.back());
  level_inputs_.pop_back();
  for (const std::vector<std::byte*>& row : outputs_) {
    std::vector<std::byte*> sent;
    for (const std::size_t position : model.sent_at) sent.push_back(row[position]);
    sent_.push_back(std::move(sent));
  }
}

}  // namespace popdist::train
