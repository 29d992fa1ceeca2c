// SPDX-License-Identifier: Apache-2.0
// Attention beside loops that say what it is, and its gradient beside differences.
#include "examples/kernels/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "examples/kernels/products.h"
#include "tests/unit/examples/differences.h"
#include "tests/unit/examples/random_floats.h"

namespace {

using Floats = std::vector<float>;

constexpr AttentionShape kShape{.samples = 2, .context = 7, .heads = 3, .width = 12};

struct Attended {
  Floats probabilities = Floats(kShape.probabilities());
  Floats output = Floats(kShape.rows() * kShape.width);
};

Attended attend(const Floats& qkv) {
  useInstructionSet(bestIsa());
  Attended result;
  attention(kShape, sequenceLoopsOf(bestIsa()), qkv.data(), result.probabilities.data(),
            result.output.data());
  return result;
}

// One output, in double.
double expectedAt(const Floats& qkv, std::size_t sample, std::size_t place, std::size_t head,
                  std::size_t column) {
  const std::size_t width = kShape.width / kShape.heads;
  const auto at = [&](std::size_t other, std::size_t which, std::size_t j) {
    return static_cast<double>(
        qkv[((sample * kShape.context + other) * 3 + which) * kShape.width + head * width + j]);
  };
  double sum = 0, all = 0;
  for (std::size_t other = 0; other <= place; ++other) {
    double score = 0;
    for (std::size_t j = 0; j < width; ++j) score += at(place, 0, j) * at(other, 1, j);
    const double weight = std::exp(score / std::sqrt(static_cast<double>(width)));
    sum += weight * at(other, 2, column);
    all += weight;
  }
  return sum / all;
}

TEST(Attention, IsTheMeanOfValuesByProbabilities) {
  const Floats qkv = randomFloats(kShape.rows() * 3 * kShape.width, 1);
  const Attended attended = attend(qkv);
  const std::size_t width = kShape.width / kShape.heads;
  for (std::size_t i = 0; i < attended.output.size(); ++i) {
    const std::size_t row = i / kShape.width, column = i % kShape.width;
    EXPECT_NEAR(attended.output[i],
                expectedAt(qkv, row / kShape.context, row % kShape.context, column / width, column % width),
                1e-5)
        << i;
  }
}

TEST(Attention, HasTheGradientOfItsOutput) {
  Floats qkv = randomFloats(kShape.rows() * 3 * kShape.width, 1);
  const Floats d_output = randomFloats(kShape.rows() * kShape.width, 2);
  const Attended attended = attend(qkv);
  Floats scratch(kShape.context * kShape.context), d_qkv(qkv.size(), 42.0F);
  attentionBackward(kShape, sequenceLoopsOf(bestIsa()), qkv.data(), attended.probabilities.data(),
                    d_output.data(), scratch.data(), d_qkv.data());
  expectGradient(
      qkv, d_qkv, [&] { return weighted(attend(qkv).output, d_output); }, "qkv");
}

TEST(Attention, OfAPlaceDoesNotDependOnWhatFollows) {
  Floats qkv = randomFloats(kShape.rows() * 3 * kShape.width, 1);
  const Attended before = attend(qkv);
  for (std::size_t j = 0; j < 3 * kShape.width; ++j) qkv[(kShape.context - 1) * 3 * kShape.width + j] = 9.0F;
  const Attended after = attend(qkv);
  for (std::size_t i = 0; i < (kShape.context - 1) * kShape.width; ++i)
    EXPECT_EQ(before.output[i], after.output[i]) << i;
}

}  // namespace
