// SPDX-License-Identifier: Apache-2.0
// Computations of layers besides products: element by element, in loops that the compiler turns into vector
// instructions. loops.cpp is compiled once for each instruction set, and one is chosen at run time. Plain
// types only: what is compiled for a newer CPU must not define an inline function that others use, too, since
// the linker keeps one copy for all.
//
// No result depends on the instruction set: no loop adds up what a vector has side by side, and none fuses
// a multiplication with an addition.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isa.h"

/// Images of `batch` samples, channels last: batch x height x width x channels. Heights and widths are even.
struct PoolShape {
  int batch, height, width, channels;
};

struct Loops {
  /// rows[i][j] += bias[j]
  void (*addBias)(float* rows, const float* bias, std::size_t count, std::size_t width);
  /// rows[i][j] = max(0, rows[i][j] + bias[j])
  void (*addBiasRelu)(float* rows, const float* bias, std::size_t count, std::size_t width);
  /// gradient[i] = 0 where the output of the ReLU is not above 0
  void (*reluBackward)(float* gradient, const float* output, std::size_t count);
  /// sums[j] += rows[0][j] + rows[1][j] + ..., in this order
  void (*addColumnSums)(float* sums, const float* rows, std::size_t count, std::size_t width);
  /// Each row of logits becomes its probabilities.
  void (*softmax)(float* rows, std::size_t count, std::size_t width);

  /// output = the largest of each 2 x 2 inputs, or 0 if none is above it; winner = 0 to 3 says which (the
  /// first of equal ones), 4 that none is.
  void (*reluMaxPool)(const PoolShape& shape, const float* input, float* output, std::int32_t* winner);
  /// d_input = d_output where it was the winner, else 0.
  void (*reluMaxPoolBackward)(const PoolShape& shape, const float* d_output, const std::int32_t* winner,
                              float* d_input);
};

Loops loopsOf(Isa isa);

namespace baseline {
Loops loops();
}
#ifdef __x86_64__
namespace avx2 {
Loops loops();
}
namespace avx512 {
Loops loops();
}
#endif
