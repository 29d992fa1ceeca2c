// SPDX-License-Identifier: Apache-2.0
// The transformer's loops: what they compute, their gradients beside differences, and that no instruction set
// computes anything else.
#include "examples/kernels/sequence_loops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/unit/examples/differences.h"
#include "tests/unit/examples/random_floats.h"

namespace {

using Floats = std::vector<float>;

constexpr std::size_t kRows = 5;
constexpr std::size_t kWidth = 37;  // no multiple of any vector
constexpr std::size_t kContext = 21;

const SequenceLoops& best() {
  static const SequenceLoops loops = sequenceLoopsOf(bestIsa());
  return loops;
}

Floats layerNorm(const SequenceLoops& loops, const Floats& x, const Floats& gain, const Floats& bias,
                 Floats& statistics) {
  Floats y(x.size());
  statistics.resize(2 * kRows);
  loops.layerNorm(x.data(), gain.data(), bias.data(), kRows, kWidth, y.data(), statistics.data());
  return y;
}

// All that the loops compute from the same numbers.
Floats resultsOf(const SequenceLoops& loops) {
  const Floats x = randomFloats(kRows * kWidth, 1), gain = randomFloats(kWidth, 2),
               bias = randomFloats(kWidth, 3);
  const Floats d_y = randomFloats(kRows * kWidth, 4);
  Floats statistics;
  Floats all = layerNorm(loops, x, gain, bias, statistics);
  Floats d_x(x.size()), d_gain(kWidth), d_bias(kWidth), active(x.size()), d_hidden = d_y;
  loops.layerNormBackward(x.data(), gain.data(), statistics.data(), d_y.data(), kRows, kWidth, d_x.data(),
                          d_gain.data(), d_bias.data());
  loops.gelu(x.data(), x.size(), active.data());
  loops.geluBackward(x.data(), x.size(), d_hidden.data());
  Floats scores = randomFloats(2 * kContext * kContext, 5), d_scores = randomFloats(scores.size(), 6);
  loops.causalSoftmax(scores.data(), 2, kContext);
  loops.causalSoftmaxBackward(scores.data(), 2, kContext, d_scores.data());
  for (const Floats& each : {d_x, d_gain, d_bias, active, d_hidden, scores, d_scores, statistics})
    all.insert(all.end(), each.begin(), each.end());
  return all;
}

TEST(SequenceLoops, GiveTheSameBitsWithEveryInstructionSet) {
  const Floats expected = resultsOf(sequenceLoopsOf(Isa::kBaseline));
  for (const Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
    if (isa <= bestIsa()) {
      EXPECT_EQ(resultsOf(sequenceLoopsOf(isa)), expected) << nameOf(isa);
    }
  }
}

TEST(SequenceLoops, LayerNormHasMeanZeroAndVarianceOne) {
  const Floats x = randomFloats(kRows * kWidth, 1);
  Floats statistics;
  const Floats y = layerNorm(best(), x, Floats(kWidth, 1.0F), Floats(kWidth, 0.0F), statistics);
  for (std::size_t row = 0; row < kRows; ++row) {
    double sum = 0, squares = 0;
    for (std::size_t j = 0; j < kWidth; ++j) {
      const double value = y[row * kWidth + j];
      sum += value;
      squares += value * value;
    }
    EXPECT_NEAR(sum / kWidth, 0, 1e-6);
    EXPECT_NEAR(squares / kWidth, 1, 1e-3);
  }
}

TEST(SequenceLoops, LayerNormHasTheGradientsOfItsOutputs) {
  Floats x = randomFloats(kRows * kWidth, 1), gain = randomFloats(kWidth, 2), bias = randomFloats(kWidth, 3);
  const Floats d_y = randomFloats(kRows * kWidth, 4);
  Floats statistics;
  layerNorm(best(), x, gain, bias, statistics);
  Floats d_x(x.size()), d_gain(kWidth), d_bias(kWidth);
  best().layerNormBackward(x.data(), gain.data(), statistics.data(), d_y.data(), kRows, kWidth, d_x.data(),
                           d_gain.data(), d_bias.data());
  const auto value = [&] {
    Floats ignored;
    return weighted(layerNorm(best(), x, gain, bias, ignored), d_y);
  };
  expectGradient(x, d_x, value, "x");
  expectGradient(gain, d_gain, value, "gain");
  expectGradient(bias, d_bias, value, "bias");
}

TEST(SequenceLoops, BackwardsAddToWhatIsThere) {
  const Floats x = randomFloats(kRows * kWidth, 1), gain = randomFloats(kWidth, 2),
               d_y = randomFloats(kRows * kWidth, 4);
  Floats statistics;
  layerNorm(best(), x, gain, Floats(kWidth), statistics);
  const auto run = [&](float from) {
    Floats d_x(x.size(), from), d_gain(kWidth, from), d_bias(kWidth, from);
    best().layerNormBackward(x.data(), gain.data(), statistics.data(), d_y.data(), kRows, kWidth, d_x.data(),
                             d_gain.data(), d_bias.data());
    return d_x[3] + d_gain[4] + d_bias[5];
  };
  EXPECT_NEAR(run(2.0F), run(0.0F) + 6.0F, 1e-4);
}

TEST(SequenceLoops, GeluIsItsFormulaAndHasItsGradient) {
  Floats x{-30.0F, -3.0F, -1.0F, -0.1F, 0.0F, 0.2F, 1.5F, 4.0F, 50.0F};
  Floats y(x.size());
  best().gelu(x.data(), x.size(), y.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double each = x[i];
    const double expected =
        0.5 * each * (1 + std::tanh(std::sqrt(2 / M_PI) * (each + 0.044715 * each * each * each)));
    EXPECT_NEAR(y[i], expected, 1e-6 * std::max(1.0, std::abs(each))) << each;
  }
  Floats gradient(x.size(), 1.0F);
  best().geluBackward(x.data(), x.size(), gradient.data());
  const Floats ones(x.size(), 1.0F);
  expectGradient(
      x, gradient,
      [&] {
        best().gelu(x.data(), x.size(), y.data());
        return weighted(y, ones);
      },
      "x");
}

TEST(SequenceLoops, CausalSoftmaxSeesNothingOfWhatFollows) {
  Floats scores = randomFloats(2 * kContext * kContext, 5);
  Floats others = scores;
  for (std::size_t i = 0; i < kContext; ++i) {
    for (std::size_t j = i + 1; j < kContext; ++j) others[i * kContext + j] = 1000.0F;
  }
  best().causalSoftmax(scores.data(), 2, kContext);
  best().causalSoftmax(others.data(), 2, kContext);
  EXPECT_EQ(scores, others);
  for (std::size_t row = 0; row < 2 * kContext; ++row) {
    double sum = 0;
    for (std::size_t j = 0; j < kContext; ++j) sum += scores[row * kContext + j];
    EXPECT_NEAR(sum, 1, 1e-5);
    for (std::size_t j = row % kContext + 1; j < kContext; ++j) EXPECT_EQ(scores[row * kContext + j], 0);
  }
}

TEST(SequenceLoops, CausalSoftmaxHasItsGradient) {
  Floats scores = randomFloats(kContext * kContext, 5);
  const Floats weights = randomFloats(scores.size(), 6);
  Floats probabilities = scores;
  best().causalSoftmax(probabilities.data(), 1, kContext);
  Floats gradient = weights;
  best().causalSoftmaxBackward(probabilities.data(), 1, kContext, gradient.data());
  expectGradient(
      scores, gradient,
      [&] {
        Floats moved = scores;
        best().causalSoftmax(moved.data(), 1, kContext);
        return weighted(moved, weights);
      },
      "score");
}

TEST(SequenceLoops, EmbeddingsAreRowsOfBothTables) {
  const TextShape shape{.samples = 2, .context = 3, .width = kWidth};
  const std::vector<std::uint8_t> text{4, 0, 4, 9, 1, 2, 3, 9};  // the fourth and the last are not looked up
  const Floats table = randomFloats(5 * kWidth, 1), positions = randomFloats(3 * kWidth, 2);
  Floats y(6 * kWidth);
  best().embed(shape, text.data(), table.data(), positions.data(), y.data());
  EXPECT_EQ(y[0], table[4 * kWidth] + positions[0]);
  EXPECT_EQ(y[5 * kWidth + 1], table[3 * kWidth + 1] + positions[2 * kWidth + 1]);
  Floats d_table(table.size()), d_positions(positions.size());
  best().embedBackward(shape, text.data(), y.data(), d_table.data(), d_positions.data());
  EXPECT_EQ(d_table[4 * kWidth], y[0] + y[2 * kWidth]);
  EXPECT_EQ(d_positions[kWidth], y[kWidth] + y[4 * kWidth]);
}

}  // namespace
