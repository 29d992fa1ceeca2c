// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/pipeline/memory.h"

#include <algorithm>
#include <map>
#include <set>

#include "common/base/text.h"
#include "libpopdist/train/schedule/legality.h"
#include "popdist/error.hpp"

namespace popdist::train {
namespace {

constexpr std::size_t kAlignment = 64;

class Planner {
 public:
  Planner(const Model& model, const Schedule& schedule, bool recompute)
      : model_(model),
        schedule_(schedule),
        recompute_(recompute),
        by_segment_(recompute && modeOf(schedule.options()) == RecomputeMode::kAndBackpropagateInterleaved) {}

  Layout plan() {
    const std::size_t arguments = model_.options.arguments.size();
    const Spec& first = model_.level_inputs.front();
    const Spec inputs(first.begin(), first.end() - static_cast<std::ptrdiff_t>(arguments));
    for (int place = 0; place < schedule_.slots(0); ++place)
      layout_.offsets.inputs.push_back(reserve(inputs));
    const std::size_t fed = layout_.bytes / static_cast<std::size_t>(schedule_.slots(0));
    for (int stage = 0; stage < schedule_.stages(); ++stage) addActivations(stage);
    layout_.stages.front().micro_batch += fed;
    addScratch();
    addInputs();
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

  const StagePart& partAt(int part) const { return model_.parts[static_cast<std::size_t>(part)]; }
  PartTables<std::size_t>& tablesOf(int part) {
    return layout_.offsets.parts[static_cast<std::size_t>(part)];
  }

  // Kept: it has a place for each micro-batch. Else it lies in the IPU's scratch.
  bool keeps(const Saved& saved) const { return !recompute_ || saved.keep != Keep::kRecomputed; }
  bool keepsOutputs(const StagePart& part) const { return !recompute_ || part.is_last || by_segment_; }

  void addActivations(int stage) {
    const std::size_t begin = layout_.bytes;
    const int slots = schedule_.slots(stage);
    for (int i = model_.firstPartOf(stage); i < model_.endOfParts(stage); ++i) {
      const StagePart& part = partAt(i);
      PartTables<std::size_t> tables;
      for (int place = 0; place < slots; ++place) {
        tables.out.push_back(keepsOutputs(part) ? reserve(part.segment.outputs)
                                                : std::vector(part.segment.outputs.size(), Layout::kNone));
        std::vector<std::size_t> saved;
        for (const Saved& one : part.segment.saved)
          saved.push_back(keeps(one) ? reserve(one.tensor) : Layout::kNone);
        tables.saved.push_back(std::move(saved));
      }
      layout_.offsets.parts.push_back(std::move(tables));
    }
    layout_.stages.push_back({.ipu = schedule_.ipuOf(stage),
                              .micro_batches = slots,
                              .micro_batch = (layout_.bytes - begin) / static_cast<std::size_t>(slots)});
  }

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
        end = std::max(end, placeInScratch(stage));
      }
      layout_.bytes = end;
    }
  }

  // Its segments use it in turn, too, where recomputation goes by segments. Returns where it ends.
  std::size_t placeInScratch(int stage) {
    const std::size_t begin = layout_.bytes;
    std::size_t end = begin;
    std::size_t sum = 0;
    for (int i = model_.firstPartOf(stage); i < model_.endOfParts(stage); ++i) {
      if (by_segment_) layout_.bytes = begin;
      const std::size_t part_begin = layout_.bytes;
      placeInScratch(partAt(i), tablesOf(i));
      sum += layout_.bytes - part_begin;
      end = std::max(end, layout_.bytes);
    }
    layout_.stages[static_cast<std::size_t>(stage)].recomputed = end - begin;
    layout_.stages[static_cast<std::size_t>(stage)].whole_recomputed = sum;
    return end;
  }

  void placeInScratch(const StagePart& part, PartTables<std::size_t>& tables) {
    const std::vector<Saved>& saved = part.segment.saved;
    for (std::size_t i = 0; i < saved.size(); ++i) {
      if (keeps(saved[i])) continue;
      const std::size_t offset = reserve(saved[i].tensor);
      for (auto& row : tables.saved) row[i] = offset;
    }
    if (keepsOutputs(part)) return;
    const std::vector<std::size_t> outputs = reserve(part.segment.outputs);
    for (auto& row : tables.out) row = outputs;
  }

  void addGradients(int stage) {
    const int together = schedule_.options().batch_serialization_iterations;
    for (int i = model_.firstPartOf(stage); i < model_.endOfParts(stage); ++i) {
      const StagePart& part = partAt(i);
      const bool needed = !part.is_first || schedule_.levelOf(stage) > 0;
      std::vector<std::size_t> row;
      for (int place = 0; place < together; ++place) {
        if (place == 0 || part.is_first) {
          row.clear();
          for (const TensorSpec& input : part.inputs)
            row.push_back(needed && hasGradient(input.type) ? reserve(input) : Layout::kNone);
        }
        tablesOf(i).grad_in.push_back(row);
      }
    }
    std::vector<std::size_t> partials;
    for (const std::size_t parameter : model_.stages[static_cast<std::size_t>(stage)].parameters) {
      const bool first_user = used_.insert(parameter).second;
      partials.push_back(first_user ? Layout::kNone : reserve(model_.options.parameters[parameter]));
    }
    layout_.offsets.grad_par.push_back(std::move(partials));
  }

  // Adds the stages' inputs, as they lie with those that make them.
  void addInputs() {
    for (int stage = 0; stage < schedule_.stages(); ++stage) {
      std::size_t& inputs = layout_.stages[static_cast<std::size_t>(stage)].inputs;
      for (const TensorSpec& input : partAt(model_.firstPartOf(stage)).inputs) inputs += input.bytes();
    }
  }

  const Model& model_;
  const Schedule& schedule_;
  const bool recompute_;
  const bool by_segment_;
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
  memory.tables_.grad_par = addressesOf(layout.offsets.grad_par, begin);
  for (const PartTables<std::size_t>& part : layout.offsets.parts)
    memory.tables_.parts.push_back(
        {addressesOf(part.out, begin), addressesOf(part.saved, begin), addressesOf(part.grad_in, begin)});
  memory.join(model);
  return memory;
}

void Memory::join(const Model& model) {
  for (std::vector<std::byte*>& row : tables_.inputs)
    row.insert(row.end(), tables_.arguments.begin(), tables_.arguments.end());
  level_inputs_.push_back(tables_.inputs);
  for (int level = 0; level < model.levels(); ++level) {
    const int first = model.level_begin[static_cast<std::size_t>(level)];
    std::vector<std::vector<std::byte*>> rows(of(model.firstPartOf(first)).out.size());
    for (int stage = first; stage < model.level_begin[static_cast<std::size_t>(level) + 1]; ++stage) {
      const auto& out = of(model.endOfParts(stage) - 1).out;
      for (std::size_t place = 0; place < rows.size(); ++place)
        rows[place].insert(rows[place].end(), out[place].begin(), out[place].end());
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
