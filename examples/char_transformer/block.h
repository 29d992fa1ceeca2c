// SPDX-License-Identifier: Apache-2.0
// A block of a transformer: attention, then two dense layers with GELU between them, each after a layer norm
// and added to what came in.
#pragma once

#include <cstddef>
#include <popdist/popdist.hpp>
#include <string>
#include <vector>

#include "attention.h"
#include "loops.h"

/// A linear layer's parameters: their positions.
struct Linear {
  std::size_t weight, bias;
};

class TransformerBlock {
 public:
  /// Adds its parameters. `residual_spread` is the standard deviation of the weights of layers whose outputs
  /// are added to what came in.
  TransformerBlock(const std::string& name, std::size_t width, double residual_spread,
                   popdist::train::Parameters& parameters);

  std::vector<std::size_t> parameters() const;

  /// Reads and makes "x", rows of the width, and hands "text" on, whose spec is given. Training needs the
  /// backward.
  popdist::train::Segment segment(const AttentionShape& shape, const popdist::TensorSpec& text, Isa isa,
                                  bool training) const;

 private:
  struct Forward;
  struct Backward;

  std::size_t width_;
  Linear norm1_, qkv_, mix_, norm2_, up_, down_;  ///< the norms' weights are gains
};
