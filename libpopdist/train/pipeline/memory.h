// SPDX-License-Identifier: Apache-2.0
// Places of the tensors between and inside the stages. First a layout, which is offsets only, then memory for
// it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "libpopdist/train/pipeline/model.h"
#include "popdist/tensor.hpp"

namespace popdist::train {

/// Tables of a part (a segment of a stage): rows of T, one for each tensor. Layout has them of offsets,
/// Memory of addresses.
template <typename T>
struct PartTables {
  std::vector<std::vector<T>> out;      ///< by place: see Schedule::slots
  std::vector<std::vector<T>> saved;    ///< by place
  std::vector<std::vector<T>> grad_in;  ///< as its inputs; of each micro-batch that a stage takes in a row
};

template <typename T>
struct Tables {
  std::vector<PartTables<T>> parts;
  std::vector<std::vector<T>> grad_par;  ///< by stage and place in Stage::parameters; none: the caller's
  std::vector<std::vector<T>> inputs;    ///< the infeed's, by place of the first level
  std::vector<T> arguments;
};

struct Layout {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  Tables<std::size_t> offsets;
  std::size_t bytes = 0;         ///< sum of all
  std::size_t stored_bytes = 0;  ///< sum of inputs, outputs and saved tensors
  std::vector<StageMemory> stages;
  bool overflows = false;  ///< more than can be addressed
};

/// Outputs, and saved tensors that are kept, have a place for each micro-batch that the schedule holds.
/// Recomputed tensors share a piece of memory of their IPU: those of whole stages, outputs of their inner
/// segments included; or those of single segments, whose outputs are then kept.
Layout layOut(const Model& model, const Schedule& schedule, bool recompute);

class Memory {
 public:
  /// kResourceExhausted: there is none.
  static pop::Result<Memory> make(const Model& model, const Layout& layout);

  const PartTables<std::byte*>& of(int part) const { return tables_.parts[static_cast<std::size_t>(part)]; }
  const std::vector<std::byte*>& gradPar(int stage) const {
    return tables_.grad_par[static_cast<std::size_t>(stage)];
  }
  /// Inputs of the stages of a level, for the micro-batch in `place` of the level before (of the first, if it
  /// is that).
  std::byte* const* inputs(int level, int place) const {
    return level_inputs_[static_cast<std::size_t>(level)][static_cast<std::size_t>(place)].data();
  }
  /// Outputs of the last level, by place.
  std::byte* const* outputs(int place) const { return outputs_[static_cast<std::size_t>(place)].data(); }
  /// Outputs for the outfeed.
  std::byte* const* sent(int place) const { return sent_[static_cast<std::size_t>(place)].data(); }
  std::byte* const* arguments() const { return tables_.arguments.data(); }

 private:
  void join(const Model& model);

  std::optional<Tensor> bytes_;
  Tables<std::byte*> tables_;
  std::vector<std::vector<std::vector<std::byte*>>> level_inputs_;  // by level and place
  std::vector<std::vector<std::byte*>> outputs_, sent_;
};

}  // namespace popdist::train
