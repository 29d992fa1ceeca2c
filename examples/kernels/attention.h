// SPDX-License-Identifier: Apache-2.0
// Causal attention of several heads: each place of a sample looks at those up to itself. Rows are places;
// samples follow each other.
#pragma once

#include <cstddef>

#include "sequence_loops.h"

struct AttentionShape {
  std::size_t samples, context, heads, width;  ///< width: of all heads together, a multiple of heads

  std::size_t rows() const { return samples * context; }
  std::size_t probabilities() const { return samples * heads * context * context; }
};

/// A row of `qkv` is a query, a key and a value, each of `width`. output = for each head: softmax(q k^T /
/// sqrt(width / heads)) v. Writes the probabilities, which the backward needs.
void attention(const AttentionShape& shape, const SequenceLoops& loops, const float* qkv,
               float* probabilities, float* output);

/// d_qkv = the gradient with respect to qkv. `scratch` has place for one head's probabilities: context x
/// context.
void attentionBackward(const AttentionShape& shape, const SequenceLoops& loops, const float* qkv,
                       const float* probabilities, const float* d_output, float* scratch, float* d_qkv);
