// SPDX-License-Identifier: Apache-2.0
// The arithmetic of optimizers on arrays of floats, for each instruction set. No operation is fused or
// reordered, so that all instruction sets give the same bits.
#pragma once

#include <cstddef>

#include "libpopdist/internal/isa.h"

namespace popdist::train {

struct AdamFactors {
  float beta1, beta2;
  float rest1, rest2;              ///< 1 - beta
  float correction1, correction2;  ///< 1 / (1 - beta^t)
  float epsilon;
};

struct UpdateKernels {
  void (*scale)(float* update, std::size_t count, float factor);
  void (*clip)(float* update, std::size_t count, float most);
  /// update += factor · other
  void (*add)(float* update, const float* other, std::size_t count, float factor);
  /// velocity = momentum · velocity + update; update = velocity
  void (*momentum)(float* update, float* velocity, std::size_t count, float momentum);
  /// The same; update = update + momentum · velocity
  void (*nesterov)(float* update, float* velocity, std::size_t count, float momentum);
  void (*adam)(float* update, float* m, float* v, std::size_t count, const AdamFactors& factors);
  /// value -= update
  void (*subtract)(float* value, const float* update, std::size_t count);
  /// The sum of squares: of eight sums in double, each of every eighth element, added in their order.
  double (*squares)(const float* values, std::size_t count);
  /// True if no element is infinite or not a number.
  bool (*finite)(const float* values, std::size_t count);
};

/// Kernels of the best instruction set that POPDIST_SIMD allows.
const UpdateKernels& kernels();
/// Kernels of one that is available.
UpdateKernels kernelsOf(reduce::Isa isa);

// Nothing of them may be called on a CPU without the instruction set.
UpdateKernels baselineUpdateKernels();
UpdateKernels avx2UpdateKernels();
UpdateKernels avx512UpdateKernels();

}  // namespace popdist::train
