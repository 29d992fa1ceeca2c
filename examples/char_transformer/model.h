// SPDX-License-Identifier: Apache-2.0
// A transformer that continues texts: embedding and positions, blocks, and a last layer that gives a score to
// each character that may come next. Cut into four stages.
#pragma once

#include <cstddef>
#include <popdist/popdist.hpp>
#include <vector>

#include "block.h"
#include "isa.h"

struct TransformerShape {
  std::size_t characters = 256;  ///< different ones
  std::size_t context = 64;      ///< that are seen at a time
  std::size_t blocks = 4, width = 64, heads = 4;
  bool tied = false;  ///< the last layer's weights are the embedding's
};

class Transformer {
 public:
  static constexpr std::size_t kStages = 4;

  /// Decides the instruction set of this process (products.h). The width is a multiple of the heads, and
  /// there are at least as many blocks as stages.
  Transformer(const TransformerShape& shape, Isa isa);

  const TransformerShape& shape() const { return shape_; }
  const popdist::train::Parameters& parameters() const { return parameters_; }

  /// Each has a part of the blocks; the first also the embedding, the last also the head. They read "text",
  /// bytes [samples, context + 1]: each character and the one that follows it. The last one gives "loss", the
  /// sum over all characters in nats; gradients are of factor · loss.
  std::vector<popdist::train::Concurrent> trainingStages(std::size_t samples, float factor) const;

  /// The same without backwards, for one text of which only the first "length" characters (an int) are there.
  /// The last stage gives "scores" of what comes after them.
  std::vector<popdist::train::Concurrent> writingStages() const;

  /// Time that a training stage takes for a micro-batch on an IPU, at `flops_per_s`.
  popdist::train::SimulationOptions timesOfStages(std::size_t samples, double flops_per_s) const;

 private:
  struct Head;
  std::vector<popdist::train::Concurrent> stages(std::size_t samples, bool training, float factor) const;
  popdist::train::Segment embedding(std::size_t samples, bool training) const;
  AttentionShape attentionShape(std::size_t samples) const;
  popdist::TensorSpec textSpec(std::size_t samples) const;
  std::size_t firstBlockOf(std::size_t stage) const { return stage * shape_.blocks / kStages; }

  TransformerShape shape_;
  Isa isa_;
  popdist::train::Parameters parameters_;
  std::size_t table_ = 0, positions_ = 0;  ///< of the embedding
  std::vector<TransformerBlock> blocks_;
  Linear norm_{};  ///< before the head
  std::size_t head_ = 0;
};
