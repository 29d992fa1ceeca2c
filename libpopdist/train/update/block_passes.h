// SPDX-License-Identifier: Apache-2.0
// An optimizer's transforms over the blocks that one member keeps: as few passes over memory as the norms
// that they need allow. No exchange: norms come from outside.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libpopdist/train/update/blocks.h"
#include "popdist/parameters.hpp"
#include "popdist/weight_update.hpp"

namespace popdist::train {

/// Sums of squares of all blocks, in their order; those of other members are filled in from outside.
struct BlockSquares {
  std::vector<double> updates;
  std::vector<double> values;
};

class BlockPasses {
 public:
  BlockPasses(Spec parameters, Optimizer optimizer, std::vector<BlockPlace> blocks, BlockRange own,
              bool gradients_are_floats);
  BlockPasses(const BlockPasses&) = delete;
  BlockPasses& operator=(const BlockPasses&) = delete;

  std::size_t count() const { return passes_.size(); }
  BlockRange all() const { return {0, blocks_.size()}; }
  BlockRange blocksOfParameter(std::size_t parameter) const {
    return {first_block_[parameter], first_block_[parameter + 1]};
  }
  /// The norms that pass `pass` needs of `squares`, which the one before has left for the own blocks. The
  /// first needs none.
  Norms normsFor(std::size_t pass) const { return passes_[pass].norms; }

  bool finite(ConstTensorRefs gradients) const;
  /// Runs one pass over the own ones among `blocks`: all(), or those of a parameter where no transform needs
  /// Norms::kOfAll. The first multiplies the gradients by `factor`; between passes they hold the update. The
  /// last one changes values[0], and copies what it has changed to the others.
  void run(std::size_t pass, BlockRange blocks, std::uint64_t updates_done, double factor,
           TensorRefs gradients, std::span<const TensorRefs> values, BlockSquares& squares);

  std::vector<Piece> state();
  std::size_t stateBytes() const { return state_.size() * sizeof(float); }

 private:
  struct Pass {
    std::vector<const Transform*> transforms;
    Norms norms = Norms::kNone;
  };
  /// One of the own blocks, as floats.
  struct Loaded {
    std::span<float> update;
    std::span<const float> value;
  };

  void addPasses();
  void placeState();
  Loaded load(std::size_t block, TensorRefs gradients, ConstTensorRefs values, bool first_pass);
  void transform(const Pass& pass, std::size_t block, std::uint64_t updates_done, const Loaded& loaded);
  void subtract(std::size_t block, const Loaded& loaded, std::span<const TensorRefs> values);
  void prepare(std::uint64_t updates_done);
  void setNorms(BlockRange blocks, const BlockSquares& squares);
  std::span<float> stateOf(std::size_t array, std::size_t block);

  const Spec parameters_;
  const Optimizer optimizer_;
  const std::vector<BlockPlace> blocks_;
  const BlockRange own_;
  const bool gradients_are_floats_;
  std::vector<Pass> passes_;
  std::vector<std::size_t> first_block_;  // by parameter, and the end
  std::vector<std::size_t> kept_at_;      // by block: its elements' begin among the kept ones of own blocks
  std::size_t kept_elements_ = 0;
  std::size_t arrays_ = 0;    // number of the state's arrays
  std::vector<float> state_;  // array after array
  std::vector<float> kept_;   // updates between passes, where the gradients are no floats
  std::vector<float> value_;  // a block's, where the parameters are no floats
  std::vector<std::span<float>> state_of_block_;
  std::vector<std::vector<double>> of_update_;  // by transform
  std::optional<std::uint64_t> prepared_for_;
  double norm_of_all_ = 0;
  std::vector<double> norms_of_updates_;  // by parameter
  std::vector<double> norms_of_values_;
};

}  // namespace popdist::train
