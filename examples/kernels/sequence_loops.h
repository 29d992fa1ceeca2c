// SPDX-License-Identifier: Apache-2.0
// Computations of transformers besides products, compiled as loops.h's and under the same rules: no result
// depends on the instruction set. Rows follow each other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isa.h"

/// Texts of bytes: samples x (context + 1), of which the last one is only looked at as what follows.
struct TextShape {
  std::size_t samples, context, width;  ///< width: of what a character becomes
};

struct SequenceLoops {
  /// y[row] = table[character] + positions[place], for each place of each sample.
  void (*embed)(const TextShape& shape, const std::uint8_t* text, const float* table, const float* positions,
                float* y);
  /// Adds to d_table and d_positions, place by place.
  void (*embedBackward)(const TextShape& shape, const std::uint8_t* text, const float* d_y, float* d_table,
                        float* d_positions);

  /// to[i] += from[i]
  void (*add)(float* to, const float* from, std::size_t count);

  /// Each row: y = gain · (x - mean) / sqrt(variance + 1e-5) + bias. `statistics` gets two numbers a row: the
  /// mean, and 1 / sqrt(variance + 1e-5).
  void (*layerNorm)(const float* x, const float* gain, const float* bias, std::size_t rows, std::size_t width,
                    float* y, float* statistics);
  /// Adds to d_x, d_gain and d_bias.
  void (*layerNormBackward)(const float* x, const float* gain, const float* statistics, const float* d_y,
                            std::size_t rows, std::size_t width, float* d_x, float* d_gain, float* d_bias);

  /// y = 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
  void (*gelu)(const float* x, std::size_t count, float* y);
  /// gradient *= d y / d x
  void (*geluBackward)(const float* x, std::size_t count, float* gradient);

  /// Row i of a context x context matrix of scores becomes probabilities of the places 0 to i; those after i
  /// become 0. `matrices` of them follow each other.
  void (*causalSoftmax)(float* scores, std::size_t matrices, std::size_t context);
  /// `gradient` is that of the probabilities, and becomes that of the scores.
  void (*causalSoftmaxBackward)(const float* probabilities, std::size_t matrices, std::size_t context,
                                float* gradient);
};

SequenceLoops sequenceLoopsOf(Isa isa);

namespace baseline {
SequenceLoops sequenceLoops();
}
#ifdef __x86_64__
namespace avx2 {
SequenceLoops sequenceLoops();
}
namespace avx512 {
SequenceLoops sequenceLoops();
}
#endif
