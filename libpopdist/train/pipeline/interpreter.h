// SPDX-License-Identifier: Apache-2.0
// Carries out any schedule, for one replica, in one thread.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "libpopdist/train/pipeline/memory.h"
#include "libpopdist/train/pipeline/model.h"
#include "popdist/pipeline.hpp"

namespace popdist::train::detail {

/// One run: what the caller of Pipeline::run or evaluate gave.
struct Call {
  ConstTensorRefs values;
  std::byte* const* gradients = nullptr;  ///< by parameter; none: forwards only
  const Feeds* feeds = nullptr;
  const UpdateFunction* update = nullptr;
  std::uint64_t step = 0;
  float loss_scale = 1;
};

class Interpreter {
 public:
  /// `schedule` is one with which `memory` was laid out: it says which place a micro-batch has. Both outlive
  /// this.
  Interpreter(const Model& model, const Schedule& schedule, const Memory& memory);

  /// A run of the schedule: act() for each of its actions, in its order, until one says that it was the last.
  /// `call` outlives the run. Both throw what Pipeline::run says of feeds and stages.
  void begin(const Schedule& schedule, const Call& call);
  bool act(const Action& action);

 private:
  void forward(const Action& action);
  void backward(const Action& action);
  void update();
  void fetch(const Action& action);
  void send(const Action& action);
  void point(int part, const Action& action);
  void clearGradients(int part, const Action& action) const;
  void addSideBySide(int stage, int micro_batch) const;
  void connect(int part);
  std::pair<int, int> partsOf(const Action& action) const;
  void addPartials() const;
  int placeOf(int stage, int micro_batch) const {
    return micro_batch % slots_[static_cast<std::size_t>(stage)];
  }
  /// A gradient's place: those of micro-batches that a stage takes in a row do not overwrite each other.
  std::size_t gradientPlaceOf(int micro_batch) const {
    return static_cast<std::size_t>(micro_batch % model_.options.batch_serialization_iterations);
  }
  std::int32_t& heldBy(int stage, int micro_batch) {
    return held_[static_cast<std::size_t>(stage)][static_cast<std::size_t>(placeOf(stage, micro_batch))];
  }

  const Model& model_;
  const Schedule& places_;
  const Memory& memory_;
  const Call* call_ = nullptr;
  std::vector<int> slots_;                         // by stage
  std::vector<std::vector<std::int32_t>> held_;    // the micro-batch in each place of each stage
  std::vector<Io> ios_;                            // by part
  std::vector<std::size_t> grad_out_begin_;        // by part: its outputs' begin among the next one's inputs
  std::vector<std::byte*> values_;                 // by parameter
  std::vector<std::vector<std::byte*>> grad_par_;  // by stage and place in Stage::parameters
  int last_micro_batch_ = 0;
};

}  // namespace popdist::train::detail
