// SPDX-License-Identifier: Apache-2.0
// ISA is the namespace of one instruction set's copy.
#include "loops.h"

#include "vector_math.h"

namespace ISA {
namespace {

void addBias(float* rows, const float* bias, std::size_t count, std::size_t width) {
  for (std::size_t i = 0; i < count; ++i, rows += width) {
    for (std::size_t j = 0; j < width; ++j) rows[j] += bias[j];
  }
}

void addBiasRelu(float* rows, const float* bias, std::size_t count, std::size_t width) {
  for (std::size_t i = 0; i < count; ++i, rows += width) {
    for (std::size_t j = 0; j < width; ++j) {
      const float sum = rows[j] + bias[j];
      rows[j] = sum > 0.0F ? sum : 0.0F;
    }
  }
}

void reluBackward(float* gradient, const float* output, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) gradient[i] = output[i] > 0.0F ? gradient[i] : 0.0F;
}

void addColumnSums(float* sums, const float* rows, std::size_t count, std::size_t width) {
  for (std::size_t i = 0; i < count; ++i, rows += width) {
    for (std::size_t j = 0; j < width; ++j) sums[j] += rows[j];
  }
}

void softmax(float* rows, std::size_t count, std::size_t width) {
  for (std::size_t i = 0; i < count; ++i) {
    float* const row = rows + i * width;
    float most = row[0];
    for (std::size_t j = 1; j < width; ++j) most = row[j] > most ? row[j] : most;
    for (std::size_t j = 0; j < width; ++j) row[j] -= most;
  }
  for (std::size_t i = 0; i < count * width; ++i) rows[i] = expOf(rows[i]);
  for (std::size_t i = 0; i < count; ++i) {
    float* const row = rows + i * width;
    float sum = 0;
    for (std::size_t j = 0; j < width; ++j) sum += row[j];
    for (std::size_t j = 0; j < width; ++j) row[j] /= sum;
  }
}

/// The four inputs of one pixel of the output, `channels` apart.
struct Square {
  std::size_t first, right, below, last;
};

/// For each pixel of the output: function(its number, the places of its inputs).
template <typename Function>
void forEachPixel(const PoolShape& shape, Function function) {
  const auto channels = static_cast<std::size_t>(shape.channels);
  const auto line = static_cast<std::size_t>(shape.width) * channels;
  const std::size_t rows = static_cast<std::size_t>(shape.batch) * static_cast<std::size_t>(shape.height) / 2;
  const auto pixels = static_cast<std::size_t>(shape.width) / 2;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t x = 0; x < pixels; ++x) {
      const std::size_t first = 2 * row * line + 2 * x * channels;
      function(row * pixels + x, Square{first, first + channels, first + line, first + line + channels});
    }
  }
}

inline void pick(float value, std::int32_t index, float& most, std::int32_t& winner) {
  winner = value > most ? index : winner;
  most = value > most ? value : most;
}

/// `Channels` is 0 or known to the compiler, which then needs no loop.
template <std::size_t Channels>
void poolPixels(const PoolShape& shape, const float* __restrict input, float* __restrict output,
                std::int32_t* __restrict winner) {
  const std::size_t channels = Channels != 0 ? Channels : static_cast<std::size_t>(shape.channels);
  forEachPixel(shape, [=](std::size_t pixel, const Square& square) {
    for (std::size_t c = 0; c < channels; ++c) {
      float most = 0.0F;
      std::int32_t which = 4;
      pick(input[square.first + c], 0, most, which);
      pick(input[square.right + c], 1, most, which);
      pick(input[square.below + c], 2, most, which);
      pick(input[square.last + c], 3, most, which);
      output[pixel * channels + c] = most;
      winner[pixel * channels + c] = which;
    }
  });
}

template <std::size_t Channels>
void unpoolPixels(const PoolShape& shape, const float* __restrict d_output,
                  const std::int32_t* __restrict winner, float* __restrict d_input) {
  const std::size_t channels = Channels != 0 ? Channels : static_cast<std::size_t>(shape.channels);
  forEachPixel(shape, [=](std::size_t pixel, const Square& square) {
    for (std::size_t c = 0; c < channels; ++c) {
      const float value = d_output[pixel * channels + c];
      const std::int32_t which = winner[pixel * channels + c];
      d_input[square.first + c] = which == 0 ? value : 0.0F;
      d_input[square.right + c] = which == 1 ? value : 0.0F;
      d_input[square.below + c] = which == 2 ? value : 0.0F;
      d_input[square.last + c] = which == 3 ? value : 0.0F;
    }
  });
}

void reluMaxPool(const PoolShape& shape, const float* input, float* output, std::int32_t* winner) {
  if (shape.channels == 8) return poolPixels<8>(shape, input, output, winner);
  if (shape.channels == 16) return poolPixels<16>(shape, input, output, winner);
  poolPixels<0>(shape, input, output, winner);
}

void reluMaxPoolBackward(const PoolShape& shape, const float* d_output, const std::int32_t* winner,
                         float* d_input) {
  if (shape.channels == 8) return unpoolPixels<8>(shape, d_output, winner, d_input);
  if (shape.channels == 16) return unpoolPixels<16>(shape, d_output, winner, d_input);
  unpoolPixels<0>(shape, d_output, winner, d_input);
}

}  // namespace

Loops loops() {
  return {.addBias = addBias,
          .addBiasRelu = addBiasRelu,
          .reluBackward = reluBackward,
          .addColumnSums = addColumnSums,
          .softmax = softmax,
          .reluMaxPool = reluMaxPool,
          .reluMaxPoolBackward = reluMaxPoolBackward};
}

}  // namespace ISA
