// SPDX-License-Identifier: Apache-2.0
// ISA is the namespace of one instruction set's copy.
#include "sequence_loops.h"

#include "vector_math.h"

namespace ISA {
namespace {

constexpr float kEpsilon = 1e-5F;

void add(float* __restrict to, const float* __restrict from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
}

/// function(where the row begins, its character, its place)
template <typename Function>
inline void forEachRow(const TextShape& shape, const std::uint8_t* text, const Function& function) {
  for (std::size_t sample = 0; sample < shape.samples; ++sample) {
    for (std::size_t place = 0; place < shape.context; ++place)
      function((sample * shape.context + place) * shape.width, text[sample * (shape.context + 1) + place],
               place);
  }
}

void embed(const TextShape& shape, const std::uint8_t* text, const float* table, const float* positions,
           float* y) {
  forEachRow(shape, text, [&](std::size_t row, std::size_t character, std::size_t place) {
    const float* const from = table + character * shape.width;
    const float* const at = positions + place * shape.width;
    float* __restrict const to = y + row;
    for (std::size_t j = 0; j < shape.width; ++j) to[j] = from[j] + at[j];
  });
}

void embedBackward(const TextShape& shape, const std::uint8_t* text, const float* d_y, float* d_table,
                   float* d_positions) {
  forEachRow(shape, text, [&](std::size_t row, std::size_t character, std::size_t place) {
    add(d_table + character * shape.width, d_y + row, shape.width);
    add(d_positions + place * shape.width, d_y + row, shape.width);
  });
}

/// 1 / sqrt(x), by the machine's square root: exact to the last bit everywhere.
float inverseRoot(float x) {
  return 1.0F / __builtin_sqrtf(x);
}

void layerNorm(const float* x, const float* gain, const float* bias, std::size_t rows, std::size_t width,
               float* __restrict y, float* statistics) {
  const float part = 1.0F / static_cast<float>(width);
  for (std::size_t row = 0; row < rows; ++row, x += width, y += width) {
    const float mean = part * sumOf(width, [=](std::size_t j) { return x[j]; });
    const float variance = part * sumOf(width, [=](std::size_t j) { return (x[j] - mean) * (x[j] - mean); });
    const float scale = inverseRoot(variance + kEpsilon);
    for (std::size_t j = 0; j < width; ++j) y[j] = gain[j] * ((x[j] - mean) * scale) + bias[j];
    statistics[2 * row] = mean;
    statistics[2 * row + 1] = scale;
  }
}

void layerNormBackward(const float* x, const float* gain, const float* statistics, const float* d_y,
                       std::size_t rows, std::size_t width, float* __restrict d_x, float* __restrict d_gain,
                       float* __restrict d_bias) {
  const float part = 1.0F / static_cast<float>(width);
  for (std::size_t row = 0; row < rows; ++row, x += width, d_y += width, d_x += width) {
    const float mean = statistics[2 * row];
    const float scale = statistics[2 * row + 1];
    const float d_mean = part * sumOf(width, [=](std::size_t j) { return gain[j] * d_y[j]; });
    const float d_scale =
        part * sumOf(width, [=](std::size_t j) { return gain[j] * d_y[j] * ((x[j] - mean) * scale); });
    for (std::size_t j = 0; j < width; ++j) {
      const float normal = (x[j] - mean) * scale;
      d_gain[j] += d_y[j] * normal;
      d_bias[j] += d_y[j];
      d_x[j] += scale * (gain[j] * d_y[j] - d_mean - normal * d_scale);
    }
  }
}

// 0.5 (1 + tanh(z)) is the logistic function of 2 z.
constexpr float kTwiceRoot = 1.5957691F;  // 2 sqrt(2 / pi)
constexpr float kCubic = 0.044715F;

float logistic(float z) {
  const float below = expOf(z < 0 ? z : -z);
  return (z < 0 ? below : 1.0F) / (1.0F + below);
}

void gelu(const float* x, std::size_t count, float* __restrict y) {
  for (std::size_t i = 0; i < count; ++i)
    y[i] = x[i] * logistic(kTwiceRoot * (x[i] + kCubic * x[i] * x[i] * x[i]));
}

void geluBackward(const float* x, std::size_t count, float* __restrict gradient) {
  for (std::size_t i = 0; i < count; ++i) {
    const float square = x[i] * x[i];
    const float part = logistic(kTwiceRoot * (x[i] + kCubic * square * x[i]));
    const float slope = kTwiceRoot * (1.0F + 3.0F * kCubic * square);
    gradient[i] *= part + x[i] * part * (1.0F - part) * slope;
  }
}

void causalSoftmax(float* scores, std::size_t matrices, std::size_t context) {
  for (std::size_t matrix = 0; matrix < matrices; ++matrix) {
    for (std::size_t i = 0; i < context; ++i, scores += context) {
      float* const row = scores;
      const std::size_t seen = i + 1;
      const float most = mostOf(row, seen);
      for (std::size_t j = 0; j < seen; ++j) row[j] = expOf(row[j] - most);
      const float scale = 1.0F / sumOf(seen, [=](std::size_t j) { return row[j]; });
      for (std::size_t j = 0; j < seen; ++j) row[j] *= scale;
      for (std::size_t j = seen; j < context; ++j) row[j] = 0.0F;
    }
  }
}

void causalSoftmaxBackward(const float* probabilities, std::size_t matrices, std::size_t context,
                           float* __restrict gradient) {
  for (std::size_t row = 0; row < matrices * context; ++row, probabilities += context, gradient += context) {
    const std::size_t seen = row % context + 1;
    const float* const p = probabilities;
    const float* const d = gradient;
    const float mean = sumOf(seen, [=](std::size_t j) { return p[j] * d[j]; });
    for (std::size_t j = 0; j < seen; ++j) gradient[j] = p[j] * (gradient[j] - mean);
    for (std::size_t j = seen; j < context; ++j) gradient[j] = 0.0F;
  }
}

}  // namespace

SequenceLoops sequenceLoops() {
  return {.embed = embed,
          .embedBackward = embedBackward,
          .add = add,
          .layerNorm = layerNorm,
          .layerNormBackward = layerNormBackward,
          .gelu = gelu,
          .geluBackward = geluBackward,
          .causalSoftmax = causalSoftmax,
          .causalSoftmaxBackward = causalSoftmaxBackward};
}

}  // namespace ISA
