// SPDX-License-Identifier: Apache-2.0
// Products of matrices and convolutions, by oneDNN on the thread that calls. Images are batch x height x
// width x channels; all memory is the caller's, row by row. Errors are exceptions of oneDNN (std::exception).
#pragma once

#include <memory>

#include "isa.h"

/// Selects the instruction set of all later products of this process. The first call decides: oneDNN makes
/// its code once. Throws std::runtime_error if it has already been made for another.
void useInstructionSet(Isa isa);

enum class Transposed : bool { kNo, kYes };

/// c = factor · a b, or c += factor · a b; a is rows x inner and b inner x columns after they are transposed,
/// where that is asked for. A stride is the distance between rows as they lie in memory; 0: they follow each
/// other.
struct Product {
  int rows, columns, inner;
  Transposed a = Transposed::kNo;
  Transposed b = Transposed::kNo;
  bool adds = false;
  float factor = 1.0F;
  int a_stride = 0, b_stride = 0, c_stride = 0;
};
void multiply(const Product& product, const float* a, const float* b, float* c);

/// Convolution of 3 x 3 pixels, in steps of 1.
struct ConvolutionShape {
  int height, width, channels;  ///< of an input
  int filters;
  int padding = 1;  ///< zeros around the input: 1 keeps its size, 0 makes it smaller by 2

  int outputHeight() const { return height + 2 * padding - 2; }
  int outputWidth() const { return width + 2 * padding - 2; }
};

/// oneDNN compiles code for each number of samples when it comes for the first time. Later calls allocate
/// nothing.
class Convolution {
 public:
  explicit Convolution(const ConvolutionShape& shape);
  ~Convolution();
  Convolution(Convolution&&) noexcept;
  Convolution& operator=(Convolution&&) noexcept;

  /// output = weights * input + bias. Weights are 3 x 3 x channels x filters.
  void forward(int batch, const float* input, const float* weights, const float* bias, float* output);
  /// d_input = the gradient with respect to the input.
  void backwardData(int batch, const float* d_output, const float* weights, float* d_input);
  /// Adds the gradients with respect to weights and bias.
  void backwardWeights(int batch, const float* input, const float* d_output, float* d_weights, float* d_bias);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};
