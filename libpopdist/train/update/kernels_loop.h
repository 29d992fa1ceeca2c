// SPDX-License-Identifier: Apache-2.0
// The loops, to be compiled for one instruction set: the including file's flags decide. No inline function of
// a library is called: the linker might keep this instruction set's copy for all.
#pragma once

#include <cstdint>
#include <cstring>

#include "libpopdist/train/update/kernels.h"

namespace popdist::train {
namespace {  // one copy for each instruction set

void scaleLoop(float* __restrict update, std::size_t count, float factor) {
  for (std::size_t i = 0; i < count; ++i) update[i] *= factor;
}

void clipLoop(float* __restrict update, std::size_t count, float most) {
  for (std::size_t i = 0; i < count; ++i) {
    const float low = update[i] < -most ? -most : update[i];
    update[i] = low > most ? most : low;
  }
}

void addLoop(float* __restrict update, const float* __restrict other, std::size_t count, float factor) {
  for (std::size_t i = 0; i < count; ++i) update[i] += factor * other[i];
}

void momentumLoop(float* __restrict update, float* __restrict velocity, std::size_t count, float momentum) {
  for (std::size_t i = 0; i < count; ++i) {
    velocity[i] = momentum * velocity[i] + update[i];
    update[i] = velocity[i];
  }
}

void nesterovLoop(float* __restrict update, float* __restrict velocity, std::size_t count, float momentum) {
  for (std::size_t i = 0; i < count; ++i) {
    velocity[i] = momentum * velocity[i] + update[i];
    update[i] += momentum * velocity[i];
  }
}

void adamLoop(float* __restrict update, float* __restrict m, float* __restrict v, std::size_t count,
              const AdamFactors& factors) {
  const AdamFactors f = factors;
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = update[i];
    m[i] = f.beta1 * m[i] + f.rest1 * gradient;
    v[i] = f.beta2 * v[i] + f.rest2 * (gradient * gradient);
    update[i] = m[i] * f.correction1 / (__builtin_sqrtf(v[i] * f.correction2) + f.epsilon);
  }
}

void subtractLoop(float* __restrict value, const float* __restrict update, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) value[i] -= update[i];
}

double squaresLoop(const float* values, std::size_t count) {
  constexpr std::size_t kLanes = 8;
  double sums[kLanes] = {};
  const std::size_t whole = count / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane];
      sums[lane] += value * value;
    }
  }
  for (std::size_t i = whole; i < count; ++i)
    sums[i - whole] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  double sum = 0;
  for (const double each : sums) sum += each;
  return sum;
}

bool finiteLoop(const float* values, std::size_t count) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, values + i, sizeof bits);
    bits &= 0x7fffffffU;
    largest = bits > largest ? bits : largest;
  }
  return largest < 0x7f800000U;
}

UpdateKernels kernelsHere() {
  return {scaleLoop, clipLoop,     addLoop,     momentumLoop, nesterovLoop,
          adamLoop,  subtractLoop, squaresLoop, finiteLoop};
}

}  // namespace
}  // namespace popdist::train
